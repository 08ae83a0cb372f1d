import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from '../run-stemma.ts';
import { atifFile, cassette, chatLines, inspectLog, otlpFile } from './files.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const at = (name: string): string => join(folder.path, name);

type Imported = Readonly<Record<string, unknown>> & { readonly history?: string };
type Report = { readonly imported: readonly Imported[] };
type Listed = readonly {
  readonly history: string;
  readonly branches: readonly { readonly branch: string }[];
}[];

/** What another program would count, of all histories together. */
const COUNTED = [
  ...['calls', 'models', 'messages', 'messages_by_role', 'tool_calls', 'tool_results', 'tool_errors'],
  ...[
    'tool_calls_without_result',
    'tool_results_without_call',
    'images',
    'thinking',
    'usage',
    'branches',
    'fidelity',
  ],
  ...['first_at', 'last_at'],
] as const;

const counts = ({ imported: [first = {}] }: Report): unknown =>
  Object.fromEntries(COUNTED.map((key) => [key, first[key]] as const));

/** The threads of all tips, in the order of their texts. */
const tipsIn = async (home: string): Promise<readonly string[]> => {
  const histories = (await stemmaJson(['histories', '--json', '--home', home])) as Listed;
  const tips: string[] = [];
  for (const { branches } of histories)
    for (const { branch } of branches)
      tips.push((await runStemma(['thread', branch, '--provider', 'openai', '--home', home])).stdout);
  return tips.toSorted((a, b) => (a < b ? -1 : 1));
};

/** Imports a file, exports what came of it, imports that into another home, and gives what both homes have. */
const roundTrip = async (format: string, text: string, extension: string) => {
  const [home, other] = [at(`${format}-home`), at(`${format}-other`)];
  const [given, made] = [at(`given-${format}.${extension}`), at(`made-${format}.${extension}`)];
  writeFileSync(given, text);
  const first = (await stemmaJson(['import', given, '--json', '--home', home])) as Report;
  const histories = (await stemmaJson(['histories', '--json', '--home', home])) as Listed;
  expect(histories).toHaveLength(1);
  const [{ history } = { history: '' }] = histories;
  const exported = await runStemma(['export', history, '--format', format, '-o', made, '--home', home]);
  expect(exported.stderr + exported.stdout).toContain(`${made}: `);
  const again = await runStemma(['export', history, '--format', format, '--home', home]);
  const second = (await stemmaJson(['import', made, '--json', '--home', other])) as Report;
  const tips = [await tipsIn(home), await tipsIn(other)];
  return { first: counts(first), second: counts(second), tips, again, stderr: exported.stderr };
};

describe('what is imported, exported and imported in another home is the same', () => {
  test.each([
    ['chat-jsonl', chatLines(), 'jsonl', ''],
    ['atif', atifFile(), 'json', ''],
    ['otlp', otlpFile(), 'jsonl', ''],
    ['vcr', cassette(), 'yaml', ''],
    ['inspect', inspectLog(), 'json', ''],
  ])(
    '%s: calls, messages, tool results, tokens, and the threads of the tips',
    async (format, text, extension, lost) => {
      const { first, second, tips, stderr } = await roundTrip(format, text, extension);
      expect(second).toEqual(first);
      expect(tips[1]).toEqual(tips[0]);
      expect(stderr).toContain(lost);
    },
  );
});
