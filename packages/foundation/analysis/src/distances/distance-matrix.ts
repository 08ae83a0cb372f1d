import { fail } from '@stemma/errors';
import { BLOCK, openKernel } from '../kernel/open-kernel.ts';
import type { Vectors } from '../vectors.ts';

/** Distances between all rows: that of rows i and k at `values[i × rows + k]`. */
export type DistanceMatrix = { readonly rows: number; readonly values: Float64Array };

/** 512 MB. */
const MOST_ROWS = 8_192;

/** All Euclidean distances, in double precision. @throws E_INPUT_TOO_LARGE for more than 8,192 rows */
export const distanceMatrix = ({ rows, dimension, values }: Vectors): DistanceMatrix => {
  if (rows > MOST_ROWS)
    throw fail(
      'E_INPUT_TOO_LARGE',
      `${rows} vectors are too many to compare: at most ${MOST_ROWS} in both samples`,
    );
  const kernel = openKernel('f64-squared-difference', dimension);
  const found = new Float64Array(rows * rows);
  const put = (side: Float32Array | Float64Array, from: number, count: number): void => {
    for (let i = 0; i < count; i++)
      side.set(values.subarray((from + i) * dimension, (from + i + 1) * dimension), i * kernel.stride);
  };
  for (let i = 0; i < rows; i += BLOCK) {
    const height = Math.min(BLOCK, rows - i);
    put(kernel.a, i, height);
    for (let k = i; k < rows; k += BLOCK) {
      const width = Math.min(BLOCK, rows - k);
      put(kernel.b, k, width);
      const squares = kernel.run(height, width);
      for (let r = 0; r < height; r++)
        for (let c = 0; c < width; c++) {
          const distance = Math.sqrt(squares[r * BLOCK + c]!);
          found[(i + r) * rows + k + c] = distance;
          found[(k + c) * rows + i + r] = distance;
        }
    }
  }
  return { rows, values: found };
};
