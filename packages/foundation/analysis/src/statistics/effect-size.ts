import { lowerBound } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { seededRandom } from '../random.ts';

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const squaresOf = (values: readonly number[], mean: number): number =>
  values.reduce((sum, value) => sum + (value - mean) ** 2, 0);

/**
 * Cohen's d, (mean of a − mean of b) / pooled standard deviation (Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988).
 * Null if it is not defined: fewer than two values on a side, or no spread.
 */
export const cohensD = (a: readonly number[], b: readonly number[]): number | null => {
  if (a.length < 2 || b.length < 2) return null;
  const [ofA, ofB] = [meanOf(a), meanOf(b)];
  const spread = Math.sqrt((squaresOf(a, ofA) + squaresOf(b, ofB)) / (a.length + b.length - 2));
  return spread === 0 ? null : (ofA - ofB) / spread;
};

/**
 * Cliff's delta, P(a > b) − P(a < b), from −1 to 1 (Cliff, "Dominance statistics", Psychological Bulletin 114, 1993). Null if a side is
 * empty.
 */
export const cliffsDelta = (a: readonly number[], b: readonly number[]): number | null => {
  if (a.length === 0 || b.length === 0) return null;
  const sorted = [...b].sort((x, y) => x - y);
  let sum = 0;
  for (const value of a)
    sum +=
      countWhile(sorted, (other) => other < value) -
      (b.length - countWhile(sorted, (other) => other <= value));
  return sum / (a.length * b.length);
};

/** How many of a sorted list pass; those that do come first. */
const countWhile = (sorted: readonly number[], passes: (value: number) => boolean): number =>
  lowerBound(0, sorted.length, (i) => passes(sorted[i]!));

/** The value below which the share `p` of sorted values lies, between two of them in proportion (as numpy's default). */
export const quantile = (sorted: ArrayLike<number>, p: number): number => {
  const at = p * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return below + (above - below) * (at - Math.floor(at));
};

export type Interval = { readonly low: number; readonly high: number };

export type BootstrapOptions = {
  /** Default 1,999. */
  readonly resamples?: number;
  /** Default 0. */
  readonly seed?: number;
  /** Default 0.95. */
  readonly confidence?: number;
};

/**
 * A confidence interval for what a function gives of two samples: the percentiles of what it gives of samples that are drawn from
 * them with replacement (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993). Null if it is defined for none of them.
 *
 * @throws E_USAGE for options that cannot be
 */
export const bootstrapInterval = (
  a: readonly number[],
  b: readonly number[],
  statistic: (a: readonly number[], b: readonly number[]) => number | null,
  { resamples = 1999, seed = 0, confidence = 0.95 }: BootstrapOptions = {},
): Interval | null => {
  if (!Number.isSafeInteger(resamples) || resamples < 1)
    throw fail('E_USAGE', `the number of resamples must be a whole number from 1, not ${resamples}`);
  if (!(confidence > 0 && confidence < 1))
    throw fail('E_USAGE', `the confidence must lie between 0 and 1, not ${confidence}`);
  if (a.length === 0 || b.length === 0) return null;
  const random = seededRandom(seed);
  const drawn = (from: readonly number[]): number[] => from.map(() => from[random.below(from.length)]!);
  const found: number[] = [];
  for (let i = 0; i < resamples; i++) {
    const value = statistic(drawn(a), drawn(b));
    if (value !== null) found.push(value);
  }
  return found.length === 0 ? null : percentileInterval(found, confidence);
};

/** The middle of values that has the share `confidence` of them. */
export const percentileInterval = (values: readonly number[], confidence: number): Interval => {
  const sorted = [...values].sort((a, b) => a - b);
  return { low: quantile(sorted, (1 - confidence) / 2), high: quantile(sorted, (1 + confidence) / 2) };
};
