import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const catalogue = join(root, 'packages/domain/events/src/catalogue.ts');

/** What the compiler reports, by file, when the catalogue of events reads otherwise; nothing is written. */
const faultsWith = (edit: (catalogue: string) => string): ReadonlyMap<string, string> => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const plain = ts.createCompilerHost(options);
  const host: ts.CompilerHost = { ...plain };
  host.getSourceFile = (file, ...rest) => {
    const source = plain.getSourceFile(file, ...rest);
    return source === undefined || file !== catalogue
      ? source
      : ts.createSourceFile(file, edit(source.text), source.languageVersion);
  };
  const files = ['packages/domain/events/src/index.ts', 'packages/domain/history/src/index.ts'];
  const program = ts.createProgram({ rootNames: files.map((file) => join(root, file)), options, host });
  const faults = new Map<string, string>();
  for (const { file, messageText } of ts.getPreEmitDiagnostics(program)) {
    const name = relative(root, file?.fileName ?? '');
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    faults.set(name, `${faults.get(name) ?? ''}${text}\n`);
  }
  return faults;
};

test('a new event does not compile before the table of facts has a row for it', () => {
  const union = "HistoryEvent = z.discriminatedUnion('type', [";
  const faults = faultsWith((text) =>
    text.replace(union, `${union}z.strictObject({ type: z.literal('CanaryRecorded') }),`),
  );

  expect(faults.get('packages/domain/events/src/facts.ts')).toContain("Property 'CanaryRecorded' is missing");
  // What an event means to a history is logic, not a fact: it needs an answer of its own there.
  expect([...faults.keys()].filter((file) => file.startsWith('packages/domain/history/'))).toEqual([
    'packages/domain/history/src/causes/node-changes.ts',
    'packages/domain/history/src/intervention.ts',
  ]);
});
