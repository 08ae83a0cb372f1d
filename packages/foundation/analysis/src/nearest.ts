import { fail } from '@stemma/errors';
import { openSmallest } from './distances/smallest.ts';

/** Embeddings as they are stored: numbers of 4 bytes, one row after another, with the length of each row. */
export type CosineIndex = {
  readonly rows: number;
  readonly dimension: number;
  readonly values: Float32Array;
  readonly lengths: Float64Array;
};

export type Found = { readonly row: number; readonly similarity: number };

/** @throws E_VECTORS if the numbers do not make whole rows, or one is not finite */
export const cosineIndex = (values: Float32Array, dimension: number): CosineIndex => {
  if (dimension < 1 || values.length % dimension !== 0)
    throw fail('E_VECTORS', `${values.length} numbers do not make rows of ${dimension}`);
  const rows = values.length / dimension;
  const lengths = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    lengths[i] = lengthOf(values.subarray(i * dimension, (i + 1) * dimension));
    if (!Number.isFinite(lengths[i]))
      throw fail('E_VECTORS', `row ${i + 1} holds a number that is not finite`);
  }
  return { rows, dimension, values, lengths };
};

/** As {@link nearestRows}, of vectors that lie apart: their places in the list. Where there are fewer than `most`, all. */
export const nearestOf = (
  vectors: readonly Float32Array[],
  query: Float32Array,
  most: number,
): readonly Found[] => {
  if (vectors.length === 0) return [];
  const dimension = query.length;
  const values = new Float32Array(vectors.length * dimension);
  for (const [row, vector] of vectors.entries()) values.set(vector, row * dimension);
  return nearestRows(cosineIndex(values, dimension), query, Math.min(most, vectors.length));
};

/**
 * The `count` rows whose cosine similarity to the query is highest, all rows compared, the highest first; of equal ones the lower row
 * first. A row of zeros is similar to nothing: 0.
 *
 * @throws E_USAGE if `count` is none, or more than there are rows; E_VECTORS if the query has another dimension or is not finite
 */
export const nearestRows = (index: CosineIndex, query: Float32Array, count: number): readonly Found[] => {
  const { rows, dimension, values, lengths } = index;
  if (query.length !== dimension)
    throw fail('E_VECTORS', `the query has ${query.length} numbers, the rows have ${dimension}`);
  if (!Number.isSafeInteger(count) || count < 1 || count > rows)
    throw fail('E_USAGE', `${count} nearest of ${rows} rows cannot be found`);
  const length = lengthOf(query);
  if (!Number.isFinite(length)) throw fail('E_VECTORS', 'the query holds a number that is not finite');
  const found = products(values, query);
  const kept = openSmallest(count);
  let bound = kept.bound();
  for (let i = 0; i < rows; i++) {
    const both = lengths[i]! * length;
    const opposite = both === 0 ? 0 : -found[i]! / both;
    if (opposite >= bound) continue;
    kept.offer(opposite, i);
    bound = kept.bound();
  }
  const { items, values: opposites } = kept.take();
  return Array.from(items, (row, n) => ({ row, similarity: 0 - opposites[n]! }));
};

/**
 * The product of a vector and each row, added up in the order of its numbers. Four rows at a time: their sums do not wait for each
 * other, and each number of the vector is read once for all.
 */
const products = (values: Float32Array, other: Float32Array): Float64Array => {
  const dimension = other.length;
  const found = new Float64Array(values.length / dimension);
  let row = 0;
  for (; row + 3 < found.length; row += 4) {
    const first = row * dimension;
    const second = first + dimension;
    const third = second + dimension;
    const fourth = third + dimension;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let k = 0; k < dimension; k++) {
      const value = other[k]!;
      a += values[first + k]! * value;
      b += values[second + k]! * value;
      c += values[third + k]! * value;
      d += values[fourth + k]! * value;
    }
    found[row] = a;
    found[row + 1] = b;
    found[row + 2] = c;
    found[row + 3] = d;
  }
  for (; row < found.length; row++) {
    let sum = 0;
    for (let k = 0; k < dimension; k++) sum += values[row * dimension + k]! * other[k]!;
    found[row] = sum;
  }
  return found;
};

const lengthOf = (values: Float32Array): number => {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
};
