import { zip } from '@stemma/test-kit';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const home = join(folder.path, 'home');
keepHomeOpen(home);
const at = ['--home', home];

const call = (task: string): object => ({
  event: 'model',
  timestamp: '2026-09-01T10:00:00+00:00',
  model: 'openai/gpt-x',
  input: [{ role: 'user', content: task }],
  tools: [],
  config: {},
  output: {
    model: 'gpt-x',
    choices: [{ message: { role: 'assistant', content: '7 m' }, stop_reason: 'stop' }],
    usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 },
  },
});
const sample = (id: number): string =>
  JSON.stringify({ id, epoch: 1, messages: [], events: [call(`Task ${id}`)] }, null, 2);
const HEAD = { version: 2, status: 'success', eval: { task: 'harbour', model: 'openai/gpt-x' }, plan: {} };

test('an archive of Inspect is imported like its log: a conversation for each sample, twice the same', async () => {
  const file = join(folder.path, 'log.eval');
  const entries: [string, string][] = [
    ['_journal/start.json', '{}'],
    ['samples/1_epoch_1.json', sample(1)],
    ['samples/2_epoch_1.json', sample(2)],
    ['header.json', JSON.stringify(HEAD, null, 2)],
  ];
  writeFileSync(file, zip(entries, { method: 'zstd' }));
  const counts = {
    ...{ format: 'inspect', conversations: 2, calls: 2, messages_by_role: { user: 2, assistant: 2 } },
    ...{ usage: { input: 20, output: 6 }, fidelity: { same: 2 } },
  };
  expect(await stemmaJson(['import', file, ...at])).toMatchObject({ imported: [counts], refused: [] });
  expect(await stemmaJson(['import', file, ...at])).toMatchObject({
    imported: [counts],
  });
  expect(await stemmaJson(['histories', ...at])).toHaveLength(2);
});

test('another archive is refused with a code', async () => {
  const file = join(folder.path, 'other.zip');
  writeFileSync(file, zip([['readme.txt', 'Read me.']]));
  const { code, stdout } = await runStemma(['import', file, '--json', ...at]);
  expect([code, JSON.parse(stdout.split('\n').at(-2) ?? '')]).toMatchObject([
    1,
    { error: { code: 'E_INPUT_SHAPE' } },
  ]);
});

const talk = (text: string): string =>
  JSON.stringify([
    { role: 'user', content: text },
    { role: 'assistant', content: 'Yes.' },
  ]);
type Answer = {
  readonly imported: readonly { readonly file: string; readonly name: string; readonly calls: number }[];
  readonly refused: readonly { readonly file: string; readonly code: string }[];
};
const importing = async (...args: readonly string[]): Promise<Answer & { readonly stderr: string }> => {
  const { stdout, stderr } = await runStemma(['import', ...args, '--json', ...at]);
  return {
    ...(JSON.parse(stdout.split('\n').findLast((line) => line.startsWith('{')) ?? '') as Answer),
    stderr,
  };
};
const filesOf = ({ imported }: Answer): readonly string[] => imported.map(({ file }) => file);

test('an archive stands for the transcripts in it, compressed ones too, and each is one file of the import', async () => {
  const file = join(folder.path, 'runs.zip');
  writeFileSync(
    file,
    zip([
      ['day-1/', ''],
      ['day-1/tide.json', talk('When is high water?')],
      ['day-2/wind.jsonl', `${talk('How strong is the wind?')}\n`],
      ['../../outside.json', talk('Where am I?')],
      ['notes.txt', 'Read me.'],
      ['day-2/cut.json', '[{"role": "us'],
    ]),
  );
  const found = await importing(file);
  expect(filesOf(found)).toEqual([
    `${file}/day-1/tide.json`,
    `${file}/day-2/wind.jsonl`,
    `${file}/../../outside.json`,
  ]);
  expect(found.imported.map(({ name, calls }) => [name, calls])).toEqual([
    ['tide', 1],
    ['wind', 1],
    ['outside', 1],
  ]);
  expect(found.refused).toMatchObject([{ file: `${file}/day-2/cut.json`, code: 'E_INPUT_TRUNCATED' }]);
  expect(found.stderr).toContain('passed over, no transcripts');
  expect(filesOf(await importing(`${file}/day-1/tide.json`))).toEqual([`${file}/day-1/tide.json`]);
  const { stdout } = await runStemma(['import', `${file}/day-9.json`, '--json', ...at]);
  expect(stdout).toContain('E_IO');
});

test('a folder gives its archives and what is compressed by Zstandard, a pattern the files that it names', async () => {
  const inner = join(folder.path, 'kept');
  mkdirSync(inner);
  writeFileSync(join(inner, 'a.json.zst'), zstdCompressSync(talk('First?')));
  writeFileSync(join(inner, 'b.json.zst'), zstdCompressSync(talk('Second?')).subarray(0, 40));
  writeFileSync(join(inner, 'c.zip'), zip([['d.json', talk('Third?')]], { method: 'zstd' }));
  writeFileSync(join(inner, 'e.json.gz'), gzipSync(talk('Fourth?')));
  const found = await importing(inner);
  expect(filesOf(found)).toEqual([
    join(inner, 'a.json.zst'),
    `${join(inner, 'c.zip')}/d.json`,
    join(inner, 'e.json.gz'),
  ]);
  expect(found.refused).toMatchObject([{ file: join(inner, 'b.json.zst'), code: 'E_INPUT_TRUNCATED' }]);
  expect(filesOf(await importing(join(inner, '*.json.*'))).length).toBe(2);
  const { stdout } = await runStemma(['import', join(inner, '*.yaml'), '--json', ...at]);
  expect(stdout).toContain('no file has a name like');
});

test('of a damaged archive the whole entries are imported, and each damaged one is refused', async () => {
  const file = join(folder.path, 'damaged.zip');
  writeFileSync(
    file,
    zip(
      [
        ['a.json', talk('Whole?')],
        ['b.json', talk('Not whole?')],
      ],
      { method: 'stored' },
    ),
  );
  const bytes = readFileSync(file);
  bytes[bytes.indexOf('Not whole')] = 0x6e;
  writeFileSync(file, bytes);
  const found = await importing(file);
  expect(filesOf(found)).toEqual([`${file}/a.json`]);
  expect(found.refused).toMatchObject([{ file: `${file}/b.json`, code: 'E_INPUT_SHAPE' }]);
});
