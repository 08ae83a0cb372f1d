import type { DistanceMatrix } from '../distances/distance-matrix.ts';
import { selectSmallest } from '../statistics/select-smallest.ts';

/** The median of the distances of all pairs of different rows; 0 for one row. */
export const medianDistance = ({ rows, values }: DistanceMatrix): number => {
  const distances = new Float64Array((rows * (rows - 1)) / 2);
  for (let i = 0, at = 0; i < rows; i++)
    for (let k = i + 1; k < rows; k++) distances[at++] = values[i * rows + k]!;
  if (distances.length === 0) return 0;
  const middle = distances.length >> 1;
  const upper = selectSmallest(distances, middle);
  if (distances.length % 2 === 1) return upper;
  let lower = 0;
  for (let i = 0; i < middle; i++) lower = Math.max(lower, distances[i]!);
  return (lower + upper) / 2;
};

/** exp(−d² / 2σ²) of every distance; for σ = 0 what that tends to: 1 for equal rows, else 0. */
export const gaussianKernel = ({ rows, values }: DistanceMatrix, sigma: number): DistanceMatrix => ({
  rows,
  values: values.map((distance) => {
    if (sigma === 0) return distance === 0 ? 1 : 0;
    const scaled = distance / sigma;
    return Math.exp((-scaled * scaled) / 2);
  }),
});
