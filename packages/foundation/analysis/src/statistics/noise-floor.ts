import { quantile } from './effect-size.ts';

/** What a distance is between runs that differ by chance only (A/A). */
export type NoiseFloor = {
  /** The distances of all pairs of runs, ascending. */
  readonly distances: readonly number[];
  readonly median: number;
  /** 95 of 100 are below. */
  readonly p95: number;
};

/** The distances between all pairs of repeated runs of the same branch (pool §7.4). Null for fewer than two runs. */
export const noiseFloor = <T>(runs: readonly T[], distance: (a: T, b: T) => number): NoiseFloor | null => {
  const distances = runs
    .flatMap((a, i) => runs.slice(i + 1).map((b) => distance(a, b)))
    .sort((a, b) => a - b);
  if (distances.length === 0) return null;
  return { distances, median: quantile(distances, 0.5), p95: quantile(distances, 0.95) };
};

/**
 * The p value of a distance against the floor: (1 + distances of the floor that are as large) / (1 + distances). With few runs it cannot
 * be small, and the pairs share runs, so it is rough.
 */
export const pAgainstFloor = ({ distances }: NoiseFloor, observed: number): number =>
  (1 + distances.filter((distance) => distance >= observed).length) / (1 + distances.length);
