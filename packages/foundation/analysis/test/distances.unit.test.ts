import { expect, test } from 'vitest';
import { distanceMatrix } from '../src/distances/distance-matrix.ts';
import { neighbours } from '../src/distances/neighbours.ts';
import { openSmallest } from '../src/distances/smallest.ts';
import { squaredDistances, type SquaredDistances } from '../src/distances/squared-distances.ts';
import { spanningTree } from '../src/hdbscan/spanning-tree.ts';
import { BLOCK, openKernel } from '../src/kernel/open-kernel.ts';
import { cosineIndex, nearestRows, seededRandom, vectorsFrom, type Vectors } from '../src/index.ts';
import { selectSmallest } from '../src/statistics/select-smallest.ts';

const randomRows = (rows: number, dimension: number, seed: number, size = 1): Vectors => {
  const { unit } = seededRandom(seed);
  return vectorsFrom(
    Array.from({ length: rows }, () => Array.from({ length: dimension }, () => (unit() - 0.5) * size)),
  );
};
/** As the kernel adds: the numbers at even positions, and those at odd ones. */
const inTwoSums = (terms: readonly number[]): number => {
  const sums = [0, 0];
  for (const [k, term] of terms.entries()) sums[k % 2]! += term;
  return sums[0]! + sums[1]!;
};
const squareOf = ({ dimension, values }: Vectors, i: number, k: number): number =>
  inTwoSums(
    Array.from(
      { length: dimension },
      (_, n) => (values[i * dimension + n]! - values[k * dimension + n]!) ** 2,
    ),
  );

test.each([1, 2, 3, 31, 64])('the kernel sums squared differences of %i numbers to the bit', (dimension) => {
  const vectors = randomRows(9, dimension, dimension);
  const kernel = openKernel('f64-squared-difference', dimension);
  for (let i = 0; i < 9; i++) {
    const row = vectors.values.subarray(i * dimension, (i + 1) * dimension);
    kernel.a.set(row, i * kernel.stride);
    kernel.b.set(row, i * kernel.stride);
  }
  const sums = kernel.run(9, 9);
  for (let i = 0; i < 9; i++)
    for (let k = 0; k < 9; k++) expect(sums[i * BLOCK + k]).toBe(squareOf(vectors, i, k));
});

test.each(['f32-product', 'f32-relaxed-product'] as const)('the kernel sums an %s up', (sum) => {
  const kernel = openKernel(sum, 6);
  kernel.a.set([1, 2, 3, 4, 5, 6]);
  kernel.b.set([1, 1, 2, 2, 3, 3], kernel.stride);
  const sums = kernel.run(1, 2);
  expect([sums[0], sums[1]]).toEqual([0, 3 + 14 + 33]);
});

test('distances of more rows than a block holds are symmetric, and 0 from a row to itself', () => {
  const vectors = randomRows(130, 5, 3);
  const { values } = distanceMatrix(vectors);
  for (let i = 0; i < 130; i++) {
    expect(values[i * 130 + i]).toBe(0);
    for (let k = 0; k < i; k++) {
      expect(values[i * 130 + k]).toBe(values[k * 130 + i]);
      expect(values[i * 130 + k]).toBe(Math.sqrt(squareOf(vectors, i, k)));
    }
  }
});

test.each([
  [3, 1],
  [40, 1],
  [40, 1e-200],
  [40, 1e149],
  [300, 1e6],
])('in %i dimensions, at size %d, no exact distance lies outside its bounds', (dimension, size) => {
  const vectors = randomRows(70, dimension, 8, size);
  // Rows far from the origin, and two that are the same.
  for (let k = 0; k < vectors.values.length; k++) vectors.values[k]! += 100 * size;
  vectors.values.copyWithin(0, dimension, 2 * dimension);
  const { middles, margins, exact } = squaredDistances(vectors);
  for (let i = 0; i < 70; i++) {
    const row = middles(i);
    for (let k = 0; k < 70; k++)
      expect(Math.abs(exact(i, k) - row[k]!)).toBeLessThanOrEqual(margins[i]! + margins[k]!);
  }
  expect(exact(0, 1)).toBe(0);
});

test.each([2, 90])('in %i dimensions the nearest rows are those of sorting all', (dimension) => {
  const vectors = randomRows(90, dimension, 4);
  vectors.values.copyWithin(0, dimension, 3 * dimension);
  const distances = squaredDistances(vectors);
  const { items, squares } = neighbours(distances, 7);
  for (let i = 0; i < 90; i++) {
    const sorted = Array.from({ length: 90 }, (_, k) => k).sort(
      (a, b) => distances.exact(i, a) - distances.exact(i, b) || a - b,
    );
    expect([...items.subarray(i * 7, i * 7 + 7)]).toEqual(sorted.slice(0, 7));
    expect(squares[i * 7 + 6]).toBe(distances.exact(i, sorted[6] ?? 0) * distances.unit ** 2);
  }
});

test('however loose the bounds are, the nearest rows and the spanning tree are the same', () => {
  const vectors = randomRows(80, 30, 6);
  vectors.values.copyWithin(0, 30, 120);
  const distances = squaredDistances(vectors);
  const loose = (margin: number): SquaredDistances => {
    const shifts = Float32Array.from({ length: 80 }, (_, k) => margin * Math.sin(k));
    return {
      ...distances,
      margins: distances.margins.map((own) => own + margin),
      middles: (row) => distances.middles(row).map((middle, k) => middle + shifts[k]!),
    };
  };
  const of = (each: SquaredDistances): unknown => {
    const near = neighbours(each, 5);
    const cores = Float64Array.from({ length: 80 }, (_, i) => near.squares[i * 5 + 4]!);
    return { near, tree: spanningTree(each, cores) };
  };
  const tight = of(distances);
  for (const margin of [1e-4, 0.01, 1, 100]) expect(of(loose(margin))).toEqual(tight);
});

test('more rows than memory holds distances of are refused', () => {
  const vectors: Vectors = { rows: 20_001, dimension: 25, values: new Float64Array() };
  expect(() => squaredDistances(vectors)).toThrow(expect.objectContaining({ code: 'E_INPUT_TOO_LARGE' }));
  expect(() => distanceMatrix(vectors)).toThrow(expect.objectContaining({ code: 'E_INPUT_TOO_LARGE' }));
});

test('the smallest of many numbers come out in order, the first of equal ones first', () => {
  const kept = openSmallest(4);
  for (const [item, value] of [5, 1, 3, 1, 9, 0, 3].entries()) kept.offer(value, item);
  expect(kept.take()).toEqual({ items: Int32Array.of(5, 1, 3, 2), values: Float64Array.of(0, 1, 1, 3) });
  expect([kept.count(), kept.bound()]).toEqual([0, Infinity]);
});

test('the k-th smallest number is that of sorting', () => {
  const { below } = seededRandom(2);
  const values = Array.from({ length: 200 }, () => below(50));
  const sorted = [...values].sort((a, b) => a - b);
  for (const k of [0, 1, 99, 100, 198, 199])
    expect(selectSmallest(Float64Array.from(values), k)).toBe(sorted[k]);
});

const index = cosineIndex(Float32Array.of(1, 0, 0, 1, 3, 3, 0, 0, -1, 0, 2, 0), 2);

test('the nearest rows are those of the smallest angle, the lower row first where it is the same', () => {
  expect(nearestRows(index, Float32Array.of(5, 0), 6)).toEqual([
    { row: 0, similarity: 1 },
    { row: 5, similarity: 1 },
    { row: 2, similarity: expect.closeTo(Math.SQRT1_2, 12) as number },
    { row: 1, similarity: 0 },
    { row: 3, similarity: 0 },
    { row: 4, similarity: -1 },
  ]);
  expect(nearestRows(index, Float32Array.of(0, 0), 1)).toEqual([{ row: 0, similarity: 0 }]);
});

test.each([
  ['E_USAGE', () => nearestRows(index, Float32Array.of(1, 1), 7)],
  ['E_USAGE', () => nearestRows(index, Float32Array.of(1, 1), 0)],
  ['E_VECTORS', () => nearestRows(index, Float32Array.of(1), 1)],
  ['E_VECTORS', () => nearestRows(index, Float32Array.of(1, NaN), 1)],
  ['E_VECTORS', () => cosineIndex(Float32Array.of(1, 2, 3), 2)],
  ['E_VECTORS', () => cosineIndex(Float32Array.of(1, Infinity), 2)],
])('a search that cannot be is refused with %s', (code, search) => {
  expect(search).toThrow(expect.objectContaining({ code }));
});
