import type { DistanceMatrix } from '../distances/distance-matrix.ts';

/** Sums of a symmetric matrix over ordered pairs of rows: within one sample, within the other, and from one to the other. */
export type SplitSums = { readonly aa: number; readonly bb: number; readonly ab: number };

/** The sums of one matrix for any way to divide its rows. */
export type Splitter = (a: Int32Array, b: Int32Array) => SplitSums;

/**
 * A function that sums a symmetric matrix up for a division of its rows, each side ascending. It adds the pairs of the smaller side
 * only; the rest follows from the sums of the rows. The same division always has the same sums.
 */
export const splitter = ({ rows, values }: DistanceMatrix): Splitter => {
  const rowSums = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    let sum = 0;
    for (let at = i * rows; at < (i + 1) * rows; at++) sum += values[at]!;
    rowSums[i] = sum;
  }
  const total = rowSums.reduce((sum, row) => sum + row, 0);
  const within = (side: Int32Array): number => {
    let [sum, diagonal] = [0, 0];
    for (let i = 0; i < side.length; i++) {
      const at = side[i]! * rows;
      diagonal += values[at + side[i]!]!;
      for (let k = i + 1; k < side.length; k++) sum += values[at + side[k]!]!;
    }
    return 2 * sum + diagonal;
  };
  return (a, b) => {
    const isASmaller = a.length <= b.length;
    const smaller = isASmaller ? a : b;
    const own = within(smaller);
    let outgoing = 0;
    for (const row of smaller) outgoing += rowSums[row]!;
    const ab = outgoing - own;
    const other = total - own - 2 * ab;
    return isASmaller ? { aa: own, bb: other, ab } : { aa: other, bb: own, ab };
  };
};
