import { fail } from '@stemma/errors';
import { BLOCK, openKernel } from '../kernel/open-kernel.ts';
import type { Vectors } from '../vectors.ts';

/**
 * The squared Euclidean distances between rows: about what they are, row by row, and exactly, one by one. All are divided by
 * the square of `unit`, a power of two.
 */
export type SquaredDistances = {
  readonly rows: number;
  readonly unit: number;
  /** For every k: |exact(row, k) − middles(row)[k]| ≤ margins[row] + margins[k]. Valid until the next call. */
  readonly middles: (row: number) => Float32Array;
  readonly margins: Float64Array;
  /** The sum of the squared differences in double precision: the same both ways, and 0 between equal rows. */
  readonly exact: (i: number, k: number) => number;
};

/** Up to this dimension what is exact is quick enough. */
const FEW = 24;

/** Above it the middles take 4 bytes for each pair: 1.6 GB for so many rows. */
const MOST_ROWS = 20_000;

/** Half the distance from 1 to the next number of single precision. */
const UNIT_ROUNDOFF = 2 ** -24;

/**
 * Rough distances are from products of single precision: |x − y|² = |x|² + |y|² − 2xy, of rows from which the mean is taken away.
 *
 * The error of a sum of products that is added up in `n` steps is at most γ|x||y| with γ = nu / (1 − nu) (Higham, "Accuracy and
 * Stability of Numerical Algorithms", 2nd edition, section 3.1), u being the unit roundoff. Rounding the rows themselves and the result adds
 * less than 4u(|x| + |y|)², and (|x| + |y|)² ≤ 2|x|² + 2|y|².
 *
 * @throws E_INPUT_TOO_LARGE for more than 20,000 rows of more than 24 numbers
 */
export const squaredDistances = (vectors: Vectors): SquaredDistances => {
  const { rows, dimension } = vectors;
  if (dimension > FEW && rows > MOST_ROWS)
    throw fail(
      'E_INPUT_TOO_LARGE',
      `${rows} vectors of ${dimension} numbers are too many: at most ${MOST_ROWS} of more than ${FEW} numbers are compared with each other`,
    );
  const centred = centredRows(vectors);
  const { squares, unit } = centred;
  const exact = exactSquares(vectors, unit ** -2);
  const steps = Math.ceil(dimension / 4) + 2;
  const gamma = (steps * UNIT_ROUNDOFF) / (1 - steps * UNIT_ROUNDOFF);
  // The last summand is for products too small for single precision.
  const margins = squares.map((square) => 1.01 * (gamma + 8 * UNIT_ROUNDOFF) * square + dimension * 1e-37);
  if (dimension > FEW) {
    const rough = roughSquares(rows, dimension, centred);
    return { rows, unit, margins, exact, middles: (row) => rough.subarray(row * rows, (row + 1) * rows) };
  }
  const middles = new Float32Array(rows);
  return {
    ...{ rows, unit, margins, exact },
    middles(row) {
      for (let k = 0; k < rows; k++) middles[k] = exact(row, k);
      return middles;
    },
  };
};

const exactSquares =
  ({ dimension, values }: Vectors, scale: number): SquaredDistances['exact'] =>
  (i, k) => {
    if (i === k) return 0;
    let [a, b, c, d] = [0, 0, 0, 0];
    let [at, other] = [i * dimension, k * dimension];
    const end = at + dimension;
    if (dimension > FEW)
      for (; at + 3 < end; at += 4, other += 4) {
        const first = values[at]! - values[other]!;
        const second = values[at + 1]! - values[other + 1]!;
        const third = values[at + 2]! - values[other + 2]!;
        const fourth = values[at + 3]! - values[other + 3]!;
        a += first * first;
        b += second * second;
        c += third * third;
        d += fourth * fourth;
      }
    for (; at < end; at++, other++) {
      const difference = values[at]! - values[other]!;
      a += difference * difference;
    }
    return (a + b + (c + d)) * scale;
  };

/** Rows without their mean, divided by `unit`, in single precision and in whole steps of the kernel; and their squared lengths. */
type CentredRows = {
  readonly centred: Float32Array;
  readonly squares: Float64Array;
  readonly unit: number;
};

const centredRows = ({ rows, dimension, values }: Vectors): CentredRows => {
  const mean = new Float64Array(dimension);
  for (let i = 0, at = 0; i < rows; i++) for (let k = 0; k < dimension; k++) mean[k]! += values[at++]! / rows;
  let largest = 0;
  for (let i = 0, at = 0; i < rows; i++)
    for (let k = 0; k < dimension; k++) {
      const size = Math.abs(values[at++]! - mean[k]!);
      if (size > largest) largest = size;
    }
  // No number is above 1 then, and no square beyond what a number can be.
  const exponent = largest === 0 ? 0 : Math.ceil(Math.log2(largest)) + 1;
  const unit = 2 ** Math.max(-500, Math.min(500, exponent));
  const stride = Math.ceil(dimension / 4) * 4;
  const centred = new Float32Array(rows * stride);
  const squares = new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i++) {
    let sum = 0;
    for (let k = 0; k < dimension; k++) {
      const value = (centred[i * stride + k] = Math.fround((values[at++]! - mean[k]!) / unit));
      sum += value * value;
    }
    squares[i] = sum;
  }
  return { centred, squares, unit };
};

const roughSquares = (rows: number, dimension: number, { centred, squares }: CentredRows): Float32Array => {
  const kernel = openKernel('f32-relaxed-product', dimension);
  const rough = new Float32Array(rows * rows);
  const blockOf = (from: number): Float32Array =>
    centred.subarray(from * kernel.stride, Math.min(rows, from + BLOCK) * kernel.stride);
  for (let i = 0; i < rows; i += BLOCK) {
    const height = Math.min(BLOCK, rows - i);
    kernel.a.set(blockOf(i));
    for (let k = i; k < rows; k += BLOCK) {
      const width = Math.min(BLOCK, rows - k);
      kernel.b.set(blockOf(k));
      const products = kernel.run(height, width);
      for (let r = 0; r < height; r++) {
        const own = squares[i + r]!;
        const at = (i + r) * rows + k;
        for (let c = 0; c < width; c++) {
          const square = own + squares[k + c]! - 2 * products[r * BLOCK + c]!;
          rough[at + c] = products[r * BLOCK + c] = square;
        }
      }
      if (k === i) continue;
      for (let c = 0; c < width; c++) {
        const at = (k + c) * rows + i;
        for (let r = 0; r < height; r++) rough[at + r] = products[r * BLOCK + c]!;
      }
    }
  }
  return rough;
};
