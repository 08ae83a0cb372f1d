import { fail } from '@stemma/errors';

/** Rows of numbers of one length, one after another: row `i` is `values[i × dimension]` and what follows. */
export type Vectors = {
  readonly rows: number;
  readonly dimension: number;
  readonly values: Float64Array;
};

/** Beyond this a square is no longer a number that a sum of squares can hold. */
const LARGEST = 1e150;

/**
 * The vectors of a list of rows, checked: at least one row, all of one length, every number finite.
 *
 * @throws E_VECTORS, which names the row; rows count from 1
 */
export const vectorsFrom = (rows: readonly ArrayLike<number>[]): Vectors => {
  const dimension = rows[0]?.length ?? 0;
  const values = new Float64Array(rows.length * dimension);
  for (const [i, row] of rows.entries()) {
    if (row.length !== dimension)
      throw fail('E_VECTORS', `row ${i + 1} has ${row.length} numbers, row 1 has ${dimension}`, {
        row: i + 1,
      });
    values.set(row, i * dimension);
  }
  return checkedVectors({ rows: rows.length, dimension, values });
};

/** The vectors themselves. @throws E_VECTORS if there are none, and for a number that is not finite, with its row */
export const checkedVectors = (vectors: Vectors): Vectors => {
  const { rows, dimension, values } = vectors;
  if (rows === 0) throw fail('E_VECTORS', 'there are no vectors');
  if (dimension === 0) throw fail('E_VECTORS', 'the vectors have no numbers: their dimension is 0');
  if (values.length !== rows * dimension)
    throw fail('E_VECTORS', `${rows} × ${dimension} numbers were announced, there are ${values.length}`);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value >= -LARGEST && value <= LARGEST) continue;
    const row = Math.floor(i / dimension) + 1;
    const what = Number.isFinite(value) ? `${value}, which is too large` : String(value);
    throw fail('E_VECTORS', `row ${row} holds ${what} (number ${(i % dimension) + 1} of ${dimension})`, {
      row,
    });
  }
  return vectors;
};

/** One row, without a copy. */
export const rowOf = ({ dimension, values }: Vectors, row: number): Float64Array =>
  values.subarray(row * dimension, (row + 1) * dimension);

/** The named rows, in the order in which they are named. */
export const selectRows = (vectors: Vectors, rows: ArrayLike<number>): Vectors => {
  const { dimension } = vectors;
  const values = new Float64Array(rows.length * dimension);
  for (let i = 0; i < rows.length; i++) values.set(rowOf(vectors, rows[i]!), i * dimension);
  return { rows: rows.length, dimension, values };
};

/** The rows of one behind those of the other. @throws E_VECTORS if their dimensions differ */
export const joinVectors = (a: Vectors, b: Vectors): Vectors => {
  requireSameDimension(a, b);
  const values = new Float64Array(a.values.length + b.values.length);
  values.set(a.values);
  values.set(b.values, a.values.length);
  return { rows: a.rows + b.rows, dimension: a.dimension, values };
};

/** @throws E_VECTORS if the dimensions differ */
export const requireSameDimension = (a: Vectors, b: Vectors): void => {
  if (a.dimension !== b.dimension)
    throw fail(
      'E_VECTORS',
      `the dimensions differ: the vectors of one have ${a.dimension} numbers, those of the other ${b.dimension}`,
    );
};

/** Each row divided by its length. A row of zeros has no direction and stays as it is. */
export const unitVectors = (vectors: Vectors): Vectors => {
  const { rows, dimension } = vectors;
  const values = vectors.values.slice();
  for (let i = 0; i < rows; i++) {
    const length = lengthOf(vectors, i);
    if (length === 0) continue;
    for (let k = i * dimension; k < (i + 1) * dimension; k++) values[k]! /= length;
  }
  return { rows, dimension, values };
};

/** The Euclidean length of a row. */
export const lengthOf = (vectors: Vectors, row: number): number => {
  let sum = 0;
  for (const value of rowOf(vectors, row)) sum += value * value;
  return Math.sqrt(sum);
};
