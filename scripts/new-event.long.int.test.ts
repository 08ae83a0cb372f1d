import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const events = 'packages/domain/events/src';

/** A file and what it reads instead. */
type Edit = { readonly file: string; readonly from: string; readonly to: string };

const UNION = "HistoryEvent = z.discriminatedUnion('type', [";
const FACTS = 'export const EVENT_FACTS = {';

/** A new event in the catalogue. */
const inCatalogue: Edit = {
  file: `${events}/catalogue.ts`,
  from: UNION,
  to: `${UNION}z.strictObject({ type: z.literal('CanaryRecorded') }),`,
};

/** Its row in the table of facts. */
const withFacts = (category: string): Edit => ({
  file: `${events}/facts.ts`,
  from: FACTS,
  to: `${FACTS} CanaryRecorded: { category: '${category}', ...NO_NODES, ...NO_NAMES },`,
});

/** Files as they are, parsed once for all programs. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** What the compiler reports, by file, when files read otherwise; nothing is written. */
const faultsWith = (...edits: readonly Edit[]): ReadonlyMap<string, string> => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const plain = ts.createCompilerHost(options);
  const host: ts.CompilerHost = { ...plain };
  host.getSourceFile = (file, ...rest) => {
    if (!parsed.has(file)) parsed.set(file, plain.getSourceFile(file, ...rest));
    const source = parsed.get(file);
    const edit = edits.find((each) => join(root, each.file) === file);
    if (source === undefined || edit === undefined) return source;
    if (!source.text.includes(edit.from)) throw new Error(`${edit.file} does not have ${edit.from}`);
    return ts.createSourceFile(file, source.text.replace(edit.from, edit.to), source.languageVersion);
  };
  const files = [
    'packages/domain/events/src/index.ts',
    'packages/domain/history/src/index.ts',
    'packages/engine/search/src/documents.ts',
  ];
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
  const faults = faultsWith(inCatalogue);
  expect(faults.get(`${events}/facts.ts`)).toContain("Property 'CanaryRecorded' is missing");
});

// What an event of the tree does to nodes is logic, not a fact: it needs an answer of its own.
test.each([
  ['tree', ['causes/node-changes.ts', 'intervention.ts']],
  ['call', ['intervention.ts']],
])('with the row, what follows from its category compiles: %s', (category, wanted) => {
  expect([...faultsWith(inCatalogue, withFacts(category)).keys()]).toEqual(
    wanted.map((file) => `packages/domain/history/src/${file}`),
  );
});
