import { expect, test } from 'vitest';
import {
  describeClusters,
  diversity,
  followClusters,
  mapVectors,
  meanSimilarity,
  NOISE,
  roundMetrics,
  seededRandom,
  unitVectors,
  vectorsFrom,
} from '../src/index.ts';

test('a cluster has its size, coherence, centroid, representative and rounds', { tags: ['pool§7.3'] }, () => {
  const vectors = vectorsFrom([
    [1, 0],
    [0, 5],
    [1, 0.1],
    [1, -0.4],
    [3, 3],
  ]);
  const labels = Int32Array.of(0, 1, 0, 0, NOISE);
  const [first, second, ...others] = describeClusters(vectors, labels, [4, 7, 9, 4, 1]);
  expect(first).toEqual({
    label: 0,
    size: 3,
    coherence: meanSimilarity(
      vectorsFrom([
        [1, 0],
        [1, 0.1],
        [1, -0.4],
      ]),
    ),
    centroid: Float64Array.of(1, (0.1 - 0.4) / 3),
    representative: 0,
    rows: [0, 2, 3],
    rounds: { first: 4, last: 9, count: 2 },
  });
  expect(second).toMatchObject({ size: 1, coherence: 1, rounds: { first: 7, last: 7, count: 1 } });
  expect(others).toEqual([]);
  expect(describeClusters(vectors, labels)[0]?.rounds).toBeNull();
});

test(
  'clusters keep their identity while their centroid stays near, the nearest pair first',
  { tags: ['pool§7.3'] },
  () => {
    const at = (degrees: number): Float64Array =>
      Float64Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180));
    const first = followClusters([], [at(0), at(90)]);
    expect(first.identities).toEqual([0, 1]);
    // 30° is as near to 0° as may be; 85° belongs to 90°, so that 60° is new, though it is near as well.
    const second = followClusters(first.known, [at(85), at(30), at(60)]);
    expect(second.identities).toEqual([1, 0, 2]);
    // What is gone comes back with its identity; 46° from it is another: 1 − cos 46° > 0.3.
    const third = followClusters(second.known, []);
    expect(followClusters(third.known, [at(30), at(106), at(-16 - 30)]).identities).toEqual([0, 1, 3]);
  },
);

test('diversity is the mean cosine distance of all pairs', { tags: ['pool§7.2'] }, () => {
  expect(
    diversity(
      vectorsFrom([
        [1, 0],
        [0, 2],
        [3, 0],
      ]),
    ),
  ).toBeCloseTo(2 / 3, 12);
  expect(
    diversity(
      vectorsFrom([
        [1, 2],
        [2, 4],
      ]),
    ),
  ).toBeCloseTo(0, 12);
  expect(
    diversity(
      vectorsFrom([
        [1, 0],
        [0, 0],
      ]),
    ),
  ).toBe(1);
  expect(diversity(vectorsFrom([[1, 0]]))).toBeNull();
});

test(
  'a round has its mean similarity and its distance from the seed messages',
  { tags: ['pool§7.2'] },
  () => {
    const vectors = vectorsFrom([
      [0, 1],
      [1, 0],
      [2, 0],
      [1, 1],
    ]);
    const metrics = roundMetrics(
      vectors,
      [2, 1, 1, 2],
      vectorsFrom([
        [1, 0],
        [3, 0],
      ]),
    );
    const half = Math.SQRT1_2;
    expect(metrics).toEqual([
      { round: 1, rows: 2, similarity: 1, seedDistance: 0 },
      {
        round: 2,
        rows: 2,
        similarity: expect.closeTo(half, 12),
        seedDistance: expect.closeTo((2 - half) / 2, 12),
      },
    ]);
  },
);

test('a map is the same for the same seed, and keeps clusters together', () => {
  const { unit } = seededRandom(3);
  const rows = Array.from({ length: 40 }, (_, i) =>
    Array.from({ length: 30 }, (__, k) => unit() + (i % 2) * (k % 3)),
  );
  const vectors = unitVectors(vectorsFrom(rows));
  const map = mapVectors(vectors, { seed: 5 });
  expect(mapVectors(vectors, { seed: 5 })).toEqual(map);
  expect(mapVectors(vectors, { seed: 6 })).not.toEqual(map);
  for (const [i, [x, y]] of map.entries()) {
    const others = [...map.entries()].filter(([k]) => k !== i);
    others.sort(([, a], [, b]) => Math.hypot(a[0] - x, a[1] - y) - Math.hypot(b[0] - x, b[1] - y));
    expect((others[0]?.[0] ?? 0) % 2).toBe(i % 2);
  }
});

test.each([1, 2, 3, 4, 20])('%i rows have finite coordinates', (count) => {
  const rows = Array.from({ length: count }, (_, i) => [i % 3, i % 2, 1]);
  const map = mapVectors(vectorsFrom(rows));
  expect(map).toHaveLength(count);
  expect(map.flat().every(Number.isFinite)).toBe(true);
});

test.each([{ neighbours: 1 }, { minDistance: -1 }, { minDistance: NaN }, { seed: -1 }])(
  'a map with %o is refused',
  (options) => {
    const rows = vectorsFrom([[1], [2], [3], [4]]);
    expect(() => mapVectors(rows, options)).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  },
);
