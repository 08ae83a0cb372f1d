import { expect, test } from 'vitest';
import {
  attractorOverlap,
  bootstrapInterval,
  cohensD,
  compareSamples,
  noiseFloor,
  pAgainstFloor,
  permutationTests,
  seededRandom,
  vectorsFrom,
  vocabularyPersistence,
  type Sample,
  type Vectors,
} from '../src/index.ts';

const normalRows = (count: number, dimension: number, mean: number, seed: number): Vectors => {
  const { unit } = seededRandom(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());
  return vectorsFrom(
    Array.from({ length: count }, () => Array.from({ length: dimension }, () => mean + normal())),
  );
};
const sample = (count: number, mean: number, seed: number): Sample => ({
  vectors: normalRows(count, 4, mean, seed),
});
const quick = { permutations: 199, resamples: 99 };

test('samples of different distributions differ, those of one do not', () => {
  const apart = compareSamples(sample(30, 0, 1), sample(25, 1, 2), quick);
  expect(apart.tests.energy?.p).toBe(1 / 200);
  expect(apart.tests.mmd2?.p).toBe(1 / 200);
  expect(apart.energyCoefficient.interval?.low).toBeGreaterThan(0.05);
  const alike = compareSamples(sample(30, 0, 1), sample(25, 0, 2), quick);
  expect(alike.tests.energy?.p).toBeGreaterThan(0.05);
  expect(alike.energyCoefficient.interval?.low).toBeLessThan(0.05);
});

test('about 5 % of comparisons of equal distributions have p ≤ 0.05', { tags: ['pool§7.8'] }, () => {
  const { unit } = seededRandom(9);
  let alarms = 0;
  for (let i = 0; i < 400; i++) {
    const values = Array.from({ length: 16 }, unit);
    const difference = (a: Int32Array, b: Int32Array): number =>
      Math.abs(meanOf(a, values) - meanOf(b, values));
    const { shift } = permutationTests(8, 8, (a, b) => ({ shift: difference(a, b) }), {
      permutations: 99,
      seed: i,
    });
    if ((shift?.p ?? 1) <= 0.05) alarms++;
  }
  // Four standard deviations around 20.
  expect(alarms).toBeGreaterThan(2);
  expect(alarms).toBeLessThan(38);
});

const meanOf = (side: Int32Array, values: readonly number[]): number =>
  side.reduce((sum, row) => sum + (values[row] ?? 0), 0) / side.length;

test(
  'the same samples and seed give the same bytes; another seed gives another p',
  { tags: ['pool§7.11'] },
  () => {
    const compare = (seed: number): string =>
      JSON.stringify(compareSamples(sample(12, 0, 1), sample(14, 0.3, 2), { ...quick, seed }));
    expect(compare(3)).toBe(compare(3));
    expect(compare(3)).not.toBe(compare(4));
  },
);

test(
  'a sample compared with itself has no distance, and every permutation is at least as far',
  { tags: ['pool§7.11'] },
  () => {
    const { vectors } = sample(10, 0, 1);
    const found = compareSamples({ vectors }, { vectors }, quick);
    expect(Math.abs(found.energy)).toBeLessThan(1e-12);
    expect(Math.abs(found.mmd2)).toBeLessThan(1e-12);
    expect(found.tests.energy?.p).toBe(1);
  },
);

test('samples of equal rows have no distance, and the kernel no width', () => {
  const vectors = vectorsFrom([
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
  const found = compareSamples({ vectors }, { vectors }, quick);
  expect([found.energy, found.mmd2, found.sigma]).toEqual([0, 0, 0]);
  expect(found.tests.energy).toEqual({ observed: 0, p: 1, z: null });
});

test('wording, vocabulary and attractors are tested where there are texts and clusters', () => {
  const talk = (words: readonly string[], count: number): readonly string[] =>
    Array.from(
      { length: count },
      (_, i) => `${words[i % words.length] ?? ''} ${words[(i * 3 + 1) % words.length] ?? ''}`,
    );
  const a: Sample = { vectors: normalRows(12, 3, 0, 1), texts: talk(['rain', 'sun', 'wind'], 12) };
  const b: Sample = { vectors: normalRows(12, 3, 20, 2), texts: talk(['stone', 'sand', 'wind'], 12) };
  const found = compareSamples(a, b, quick);
  expect(found.attractors).toEqual({ clusters: 2, shared: 0, overlap: 0 });
  expect(found.tests.terms?.p).toBe(1 / 200);
  expect(found.vocabularyPersistence).toBeCloseTo(1 / 6, 12);
  expect(Object.keys(found.adjusted)).toEqual(['energy', 'mmd2', 'terms', 'lostVocabulary', 'lostOverlap']);
  expect(found.adjusted.energy?.holm).toBe(5 / 200);
});

test(
  'shares of vocabulary and of clusters are computed as the rules say',
  { tags: ['pool§7.13', 'pool§7.14'] },
  () => {
    const counts = (...values: readonly number[]): Float64Array => Float64Array.from(values);
    expect(vocabularyPersistence(counts(3, 1, 0), counts(1, 0, 9))).toBe(0.75);
    expect(vocabularyPersistence(counts(0, 0), counts(1, 1))).toBeNull();
    expect(attractorOverlap(counts(5, 5, 0), counts(1, 0, 3))).toBe(0.25);
    expect(attractorOverlap(counts(0), counts(1))).toBeNull();
  },
);

test('a floor of repeated runs says what is no more than chance', { tags: ['pool§7.17'] }, () => {
  const floor = noiseFloor([0, 1, 3, 6], (a, b) => Math.abs(a - b));
  expect(floor).toEqual({ distances: [1, 2, 3, 3, 5, 6], median: 3, p95: 5.75 });
  expect(floor === null ? 0 : pAgainstFloor(floor, 5)).toBe(3 / 7);
  expect(noiseFloor([1], () => 0)).toBeNull();
});

test(
  'a bootstrap interval covers what is to be estimated, and is the same for the same seed',
  { tags: ['pool§7.16'] },
  () => {
    const [a, b] = [Array.from(normalRows(60, 1, 0.8, 4).values), Array.from(normalRows(60, 1, 0, 5).values)];
    const interval = bootstrapInterval(a, b, cohensD, { seed: 1, resamples: 499 });
    expect(interval?.low).toBeLessThan(0.8);
    expect(interval?.high).toBeGreaterThan(0.8);
    expect(bootstrapInterval(a, b, cohensD, { seed: 1, resamples: 499 })).toEqual(interval);
  },
);

test.each([
  ['permutations', { permutations: 0 }, 'E_USAGE'],
  ['resamples', { resamples: -1 }, 'E_USAGE'],
  ['seed', { seed: 0.5 }, 'E_USAGE'],
  ['clusters', { clusters: { minClusterSize: 1 } }, 'E_USAGE'],
])('%s that cannot be are refused', (_what, options, code) => {
  expect(() => compareSamples(sample(3, 0, 1), sample(3, 0, 2), options)).toThrow(
    expect.objectContaining({ code }),
  );
});

test('samples of different dimensions are refused', () => {
  const compare = (): unknown => compareSamples(sample(3, 0, 1), { vectors: vectorsFrom([[1]]) });
  expect(compare).toThrow(expect.objectContaining({ code: 'E_VECTORS' }));
});
