import type { Random } from './random.ts';
import { centroidOf } from './diversity.ts';
import { rowOf, type Vectors } from './vectors.ts';

/** So many steps find a direction well enough to begin a map with. */
const STEPS = 30;

/**
 * The coordinates of each row along the two directions in which the rows spread most, about: each direction by power iteration,
 * the second at a right angle to the first (Hotelling 1933; Golub and Van Loan, "Matrix Computations", section 8.2).
 */
export const principalComponents = (vectors: Vectors, random: Random): readonly [x: number, y: number][] => {
  const mean = centroidOf(vectors);
  const directions: Float64Array[] = [];
  for (let n = 0; n < 2; n++) {
    let direction = Float64Array.from({ length: vectors.dimension }, () => random.unit() - 0.5);
    for (let step = 0; step < STEPS; step++) direction = spreadAlong(vectors, mean, direction, directions);
    directions.push(direction);
  }
  const [first = mean, second = mean] = directions;
  return Array.from({ length: vectors.rows }, (_, i) => {
    const row = rowOf(vectors, i);
    return [along(row, mean, first), along(row, mean, second)];
  });
};

/** The product of the covariance and a direction, at right angles to the others, of length 1; or zeros. */
const spreadAlong = (
  vectors: Vectors,
  mean: Float64Array,
  direction: Float64Array,
  others: readonly Float64Array[],
): Float64Array<ArrayBuffer> => {
  const found = new Float64Array(direction.length);
  for (let i = 0; i < vectors.rows; i++) {
    const row = rowOf(vectors, i);
    const at = along(row, mean, direction);
    for (let k = 0; k < row.length; k++) found[k]! += at * (row[k]! - mean[k]!);
  }
  for (const other of others) {
    let shared = 0;
    for (let k = 0; k < found.length; k++) shared += found[k]! * other[k]!;
    for (let k = 0; k < found.length; k++) found[k]! -= shared * other[k]!;
  }
  let square = 0;
  for (const value of found) square += value * value;
  return square > 0 ? found.map((value) => value / Math.sqrt(square)) : found;
};

const along = (row: Float64Array, mean: Float64Array, direction: Float64Array): number => {
  let sum = 0;
  for (let k = 0; k < row.length; k++) sum += (row[k]! - mean[k]!) * direction[k]!;
  return sum;
};
