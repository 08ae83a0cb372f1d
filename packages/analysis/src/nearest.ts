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
    lengths[i] = Math.sqrt(product(values, i * dimension, values.subarray(i * dimension), dimension));
    if (!Number.isFinite(lengths[i]))
      throw fail('E_VECTORS', `row ${i + 1} holds a number that is not finite`);
  }
  return { rows, dimension, values, lengths };
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
  const length = Math.sqrt(product(query, 0, query, dimension));
  if (!Number.isFinite(length)) throw fail('E_VECTORS', 'the query holds a number that is not finite');
  const kept = openSmallest(count);
  let bound = kept.bound();
  for (let i = 0; i < rows; i++) {
    const both = lengths[i]! * length;
    const opposite = both === 0 ? 0 : -product(values, i * dimension, query, dimension) / both;
    if (opposite >= bound) continue;
    kept.offer(opposite, i);
    bound = kept.bound();
  }
  const { items, values: opposites } = kept.take();
  return Array.from(items, (row, n) => ({ row, similarity: 0 - opposites[n]! }));
};

/** Four sums that do not wait for each other. */
const product = (values: Float32Array, from: number, other: Float32Array, dimension: number): number => {
  let [a, b, c, d] = [0, 0, 0, 0];
  let k = 0;
  for (let at = from; k + 3 < dimension; k += 4, at += 4) {
    a += values[at]! * other[k]!;
    b += values[at + 1]! * other[k + 1]!;
    c += values[at + 2]! * other[k + 2]!;
    d += values[at + 3]! * other[k + 3]!;
  }
  for (; k < dimension; k++) a += values[from + k]! * other[k]!;
  return a + b + (c + d);
};
