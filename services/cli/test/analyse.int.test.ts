import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { askApart } from '../src/analyse/ask-apart.ts';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const docs = join(import.meta.dirname, '../../../docs');
const before = join(docs, 'analysis/before.jsonl');
const after = join(docs, 'analysis/after.jsonl');
const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const file = (name: string, text: string): string => {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
};
/** A .npy file of numbers in rows of two. */
const npy = (name: string, numbers: readonly number[]): string => {
  const header = `{'descr': '<f8', 'fortran_order': False, 'shape': (${numbers.length / 2}, 2), }\n`;
  const head = Buffer.from(`\x93NUMPY\x01\x00${String.fromCharCode(header.length)}\x00${header}`, 'latin1');
  const path = join(folder.path, name);
  writeFileSync(path, Buffer.concat([head, Buffer.from(Float64Array.from(numbers).buffer)]));
  return path;
};
const square = (x: number, y: number): readonly number[] => [x, y, x + 1, y, x, y + 1, x + 1, y + 1];

test('clusters of a .npy file are printed with their labels', { tags: ['pool§7.10'] }, async () => {
  const vectors = npy('squares.npy', [...square(0, 0), 40, 40, ...square(9, 9)]);
  const found = await stemmaJson(['analyse', 'cluster', vectors, '--min-cluster-size', '4', '--json']);
  expect(found).toEqual({
    ...{ rows: 9, dimension: 2, embedder: null, min_cluster_size: 4, min_samples: 4, noise: 1 },
    diversity: expect.any(Number) as number,
    labels: [0, 0, 0, 0, -1, 1, 1, 1, 1],
    clusters: [
      {
        ...{ label: 0, size: 4, representative: 3, text: null, rounds: null, centroid: [0.5, 0.5] },
        coherence: expect.any(Number) as number,
      },
      {
        ...{ label: 1, size: 4, representative: 5, text: null, rounds: null, centroid: [9.5, 9.5] },
        coherence: expect.any(Number) as number,
      },
    ],
  });
});

test('with --unit only directions count', async () => {
  const labels = async (...options: readonly string[]): Promise<unknown> => {
    const vectors = file('rays.csv', '1,0\n9,0\n50,0\n0,1\n0,8\n0,60\n');
    return ((await stemmaJson(['analyse', 'cluster', vectors, '--json', ...options])) as { labels: unknown })
      .labels;
  };
  expect(await labels('--unit')).toEqual([0, 0, 0, 1, 1, 1]);
  expect(await labels()).not.toEqual([0, 0, 0, 1, 1, 1]);
});

test(
  'a comparison is the same whenever it is made, and names what it was made with',
  { tags: ['pool§7.10', 'pool§7.11'] },
  async () => {
    const compare = (...options: readonly string[]): Promise<unknown> =>
      stemmaJson(['analyse', 'compare', before, after, '--permutations', '99', '--json', ...options]);
    const found = await compare('--seed', '7');
    expect(found).toMatchObject({
      ...{ a: { rows: 12 }, b: { rows: 12 }, dimension: 512, embedder: 'stemma-ngrams-1' },
      ...{ seed: 7, permutations: 99, noise_floor: null },
    });
    expect(await compare('--seed', '7')).toEqual(found);
    expect(await compare('--seed', '8')).not.toEqual(found);
    const keys = ['energy', 'mmd2', 'jensen_shannon', 'vocabulary_persistence', 'attractor_overlap'];
    expect(Object.keys((found as { adjusted: object }).adjusted)).toEqual(keys);
  },
);

test('repeated runs of a branch are what the distance is held against', { tags: ['pool§7.17'] }, async () => {
  const runs = [1, 2, 3].map((i) => npy(`run-${i}.npy`, [...square(0, i / 10), ...square(2, 0)]));
  const [a, b] = [npy('a.npy', square(0, 0)), npy('b.npy', square(30, 0))];
  const args = ['analyse', 'compare', a, b, '--permutations', '19', '--runs', ...runs];
  expect(await stemmaJson([...args, '--json'])).toMatchObject({ noise_floor: { runs: 3, p: 0.25 } });
  expect((await runStemma(args)).stdout).toContain('A and B are further apart than any two of them.');
  const one = await runStemma(['analyse', 'compare', a, b, '--runs', a]);
  expect([one.code, one.stderr]).toEqual([64, expect.stringContaining('--runs takes 2 to 50 files, not 1')]);
});

test('a map is CSV, and a list of coordinates as JSON', async () => {
  const { stdout } = await runStemma(['analyse', 'map', before]);
  const lines = stdout.trimEnd().split('\n');
  expect([lines[0], lines.length]).toEqual(['row,x,y', 13]);
  const found = (await stemmaJson(['analyse', 'map', before, '--json'])) as { coordinates: number[][] };
  expect(lines[12]).toBe(`12,${found.coordinates[11]?.join(',') ?? ''}`);
});

test('texts may come through stdin; that they were embedded is said on stderr', async () => {
  const run = await runStemma(['analyse', 'cluster', '-'], { input: readFileSync(before) });
  expect(run.stderr).toContain('the texts have no vectors: stemma-ngrams-1');
  expect(run.stdout).toContain('2 clusters');
});

test.each([
  [['cluster', 'nan.json'], 1, 'row 2 holds "NaN"'],
  [['cluster', 'ragged.csv'], 1, 'row 2 has 1 numbers, row 1 has 2'],
  [['cluster', 'empty.csv'], 1, 'the file is empty'],
  [['compare', 'two.csv', 'three.csv'], 1, 'the dimensions differ'],
  [['cluster', 'two.csv', '--min-cluster-size', '1'], 64, '--min-cluster-size must be a whole number from 2'],
  [['cluster', 'two.csv', '--min-samples', '9'], 64, 'min_samples is 9, but there are only 2 vectors'],
  [
    ['compare', 'two.csv', 'two.csv', '--permutations', '0'],
    64,
    '--permutations must be a whole number from 1',
  ],
  [['map', 'two.csv', '--seed', '-1'], 64, '--seed must be a whole number from 0'],
  [['map', 'nowhere.csv'], 74, 'does not exist'],
  [[], 64, 'the subcommand is missing'],
] as const)('%j ends with exit code %i', async ([name, ...args], code, message) => {
  file('nan.json', '[[1,2],["NaN",2]]');
  file('ragged.csv', '1,2\n3\n');
  file('empty.csv', '\n');
  file('two.csv', '1,2\n3,4\n');
  file('three.csv', '1,2,3\n');
  const paths = args.map((arg) => (/\.\w+$/.test(arg) ? join(folder.path, arg) : arg));
  const run = await runStemma(['analyse', ...(name === undefined ? [] : [name]), ...paths]);
  expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(message)]);
});

test('a computation that would take hours ends when it is cancelled', async () => {
  const cancelled = new AbortController();
  const bytes = (): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(before));
  const asked = askApart(
    {
      kind: 'compare',
      ...{ a: { name: 'a', bytes: bytes() }, b: { name: 'b', bytes: bytes() }, runs: [], unit: false },
      ...{ seed: 0, permutations: 1e9, minClusterSize: 3 },
    },
    cancelled.signal,
  );
  cancelled.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});

test('the page on analysis shows what the commands print', async () => {
  const page = readFileSync(join(docs, 'analysis.md'), 'utf8');
  // What `verdict` shows is of a pool that the reader has not.
  const blocks = [...page.matchAll(/^```\n\$ stemma (analyse .*)\n([^]*?)^```$/gm)];
  expect(blocks.length).toBeGreaterThan(1);
  for (const [, command = '', shown] of blocks) {
    const args = command
      .split(' ')
      .map((arg) => (arg.endsWith('.jsonl') ? join(docs, 'analysis', arg) : arg));
    expect(shown).toBe((await runStemma(args)).stdout);
  }
});
