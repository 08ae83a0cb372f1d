import { zip } from '@stemma/test-kit';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
