import { npyBytes, vectorsFrom } from '@stemma/analysis';
import { sendJson, startModels } from '@stemma/test-kit';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keepHomeOpen, runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
const home = join(folder.path, 'home');
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(home);

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
};
const SEEDS = ['The sea keeps.', 'Nobody counts.', 'A door is open.', 'Who asks?', 'The night counts.'];
const act = async (...args: readonly string[]) =>
  (await stemmaJson([...args, '--home', home, '--actor', 'ada'])) as Readonly<Record<string, unknown>>;
const json = async (...args: readonly string[]) =>
  (await stemmaJson([...args, '--home', home])) as Readonly<Record<string, unknown>>;

test(
  'vectors of a file are what a pool is measured, clustered and searched by',
  { tags: ['pool§1.7', 'pool§6.6'] },
  async () => {
    await act(
      'pool',
      'init',
      'sea',
      '--messages',
      file('seeds.json', JSON.stringify(SEEDS)),
      '--embedder',
      'outside:mine',
    );
    const lines = SEEDS.slice(0, 3).map((_, i) => JSON.stringify({ vector: [1, i / 10], vector_id: i }));
    expect(await act('pool', 'embed', 'sea', file('vectors.jsonl', lines.join('\n')))).toMatchObject({
      embedder: 'outside:mine',
      dimension: 2,
      recorded: 3,
      known: 0,
      missing: 2,
    });
    const npy = file(
      'vectors.npy',
      npyBytes(
        vectorsFrom([
          [7, 0.3],
          [7, 0.4],
        ]),
        '<f4',
      ),
    );
    const ids = file('ids.json', '[3, 4]');
    expect(await act('pool', 'embed', 'sea', npy, '--ids', ids)).toMatchObject({ recorded: 2, missing: 0 });
    expect(await json('pool', 'metrics', 'sea')).toMatchObject({
      embedder: 'outside:mine',
      now: { embedded: 5 },
    });
    expect(await json('pool', 'attractors', 'sea')).toMatchObject({ rows: 5, dimension: 2, embedder: null });
    expect(await json('pool', 'search', 'sea', 'Who', 'asks?', '--like', '--limit', '2')).toMatchObject([
      { text: 'Who asks?', similarity: 1 },
      { text: 'The night counts.' },
    ]);
  },
);

test('a file that holds no vectors, and one without its pool, are refused with a code, and nothing is recorded', async () => {
  const before = await json('pool', 'sea');
  const good = file('good.jsonl', '{"vector":[1,2],"text":"new"}');
  for (const [args, code] of [
    [[file('nan.jsonl', '{"vector":[NaN],"text":"a"}')], 'E_VECTORS'],
    [[file('other.jsonl', '{"vector":[1],"text":"new"}')], 'E_VECTORS'],
    [[good, '--embedder', 'stemma-ngrams-1'], 'E_EMBEDDER_INVALID'],
    [[good, '--embedder', 'nonsense'], 'E_EMBEDDER_INVALID'],
    [[good, '--ids', good], 'E_VECTORS'],
    [['--embedder', 'outside:mine'], 'E_USAGE'],
    [[], 'E_EMBEDDER_INVALID'],
    [[join(folder.path, 'nothing')], 'E_IO'],
  ] as const) {
    const { code: exit, stderr } = await runStemma([
      'pool',
      'embed',
      'sea',
      ...args,
      '--json',
      '--home',
      home,
      '--actor',
      'ada',
    ]);
    expect(exit).not.toBe(0);
    expect(stderr).toContain(code);
  }
  expect(await json('pool', 'sea')).toEqual(before);
});

test('an endpoint is asked for the vectors of a pool, with the key of the environment', async () => {
  const asked: string[] = [];
  const server = await startModels(({ asked: body }, _n, outgoing) => {
    const texts = body?.['input'] as string[];
    asked.push(...texts);
    sendJson(outgoing, 200, { data: texts.map((text) => ({ embedding: [1, text.length] })) });
  });
  try {
    const embedder = `openai:e@${server.url}/v1`;
    await act(
      'pool',
      'init',
      'lake',
      '--messages',
      file('seeds.json', JSON.stringify(SEEDS)),
      '--embedder',
      embedder,
    );
    expect(asked).toEqual(SEEDS);
    await act('inject', 'lake', 'Is it reversible?');
    expect(await act('pool', 'embed', 'lake')).toMatchObject({ embedder, recorded: 1, known: 5, missing: 0 });
    expect(asked).toEqual([...SEEDS, 'Is it reversible?']);
    expect(await json('pool', 'metrics', 'lake')).toMatchObject({ embedder, now: { embedded: 6 } });
    const { stdout } = await runStemma(['interventions', 'lake', '--type', 'edit', '--json', '--home', home]);
    const newest = stdout.trimEnd().split('\n').at(-1) ?? '';
    expect(JSON.parse(newest)).toMatchObject({
      actor: 'ada',
      content: { commands: [{ op: 'record_vectors', embedder, texts: 1 }] },
    });
  } finally {
    await server.close();
  }
});
