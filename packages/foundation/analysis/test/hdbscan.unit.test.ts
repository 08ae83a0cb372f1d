import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hdbscan, NOISE, seededRandom, vectorsFrom } from '../src/index.ts';
import { dataSets } from './data-sets/shapes.ts';

const file = join(import.meta.dirname, 'data-sets/labels.json');
const known = JSON.parse(readFileSync(file, 'utf8')) as readonly { name: string; labels: string }[];

/** '0x12 -1' as 0 twelve times and -1 once. */
const inFull = (labels: string): readonly number[] =>
  labels.split(' ').flatMap((run) => {
    const [label, count = 1] = run.split('x').map(Number);
    return Array<number>(count).fill(label ?? NaN);
  });

const sets = dataSets();

test('there are 20 data sets and more, and scikit-learn has labelled each', () => {
  expect(sets.length).toBeGreaterThanOrEqual(20);
  expect(known.map(({ name }) => name)).toEqual(sets.map(({ name }) => name));
});

test.each(sets.map((set, i) => [set.name, set, i] as const))(
  'the labels of %s are those of scikit-learn, in the order in which they appear',
  { tags: ['pool§7.9', 'pool§7.18'] },
  (_name, { vectors, options }, i) => {
    expect([...hdbscan(vectors, options).labels]).toEqual(inFull(known[i]?.labels ?? ''));
  },
);

describe('few rows', () => {
  test('fewer rows than the smallest cluster has are noise', () => {
    expect([...hdbscan(vectorsFrom([[1], [1]])).labels]).toEqual([NOISE, NOISE]);
  });

  test('rows that are all the same are one cluster, if one is allowed', () => {
    const rows = vectorsFrom(Array.from({ length: 5 }, () => [3, 4]));
    expect([...hdbscan(rows).labels]).toEqual([NOISE, NOISE, NOISE, NOISE, NOISE]);
    expect([...hdbscan(rows, { allowSingleCluster: true }).labels]).toEqual([0, 0, 0, 0, 0]);
  });
});

test('the same rows in many dimensions, turned and far away, have the same labels', () => {
  const random = seededRandom(5);
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - random.unit())) * Math.cos(6.283185 * random.unit());
  const flat = Array.from({ length: 150 }, (_, i) => [(i % 3) * 6 + normal(), (i % 3) * 2 + normal()]);
  const wide = flat.map(([x = 0, y = 0]) =>
    Array.from({ length: 40 }, (_, k) => 1e6 + x * Math.sin(k + 1) + y * Math.cos(k * k)),
  );
  const labels = hdbscan(vectorsFrom(wide), { minClusterSize: 8 }).labels;
  const turned = wide.map((row) => row.map((value, k) => (k % 2 === 0 ? -value : value) * 1024));
  expect([...hdbscan(vectorsFrom(turned), { minClusterSize: 8 }).labels]).toEqual([...labels]);
  expect(new Set(labels).size).toBeGreaterThan(2);
});

test.each([
  [{ minClusterSize: 1 }, 'the smallest size of a cluster must be a whole number from 2, not 1'],
  [{ minClusterSize: 2.5 }, 'the smallest size of a cluster must be a whole number from 2, not 2.5'],
  [{ minSamples: 0 }, 'min_samples must be a whole number from 1, not 0'],
  [{ minSamples: 4 }, 'min_samples is 4, but there are only 3 vectors'],
])('%o is refused', (options, message) => {
  expect(() => hdbscan(vectorsFrom([[1], [2], [3]]), options)).toThrow(
    expect.objectContaining({ code: 'E_USAGE', message }),
  );
});
