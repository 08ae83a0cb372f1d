import { seededRandom, shuffle, type Random } from '../random.ts';
import { percentileInterval, quantile, type Interval } from '../statistics/effect-size.ts';
import type { RunUnit } from './runs.ts';

/** A statistic of a division: for each unit on which side it is, how often it was drawn. Null: it is not defined. */
export type DivisionStatistic = (sides: Uint8Array, times: Int32Array) => number | null;

/** One of the statistics of a part. */
export type StatisticTest = {
  readonly name: string;
  readonly observed: number | null;
  /** Of this statistic alone. */
  readonly p: number | null;
  /** Mean and standard deviation over random divisions. */
  readonly mean: number;
  readonly deviation: number;
  /** What it is in samples of units drawn with replacement: its middle 95 %, put right for what drawing adds. */
  readonly interval: Interval | null;
};

/** A test of all statistics of a part together. */
export type PartTest = {
  /** That chance makes any of them as large (Westfall and Young's max T). Null: none is defined. */
  readonly p: number | null;
  /** How many deviations above its mean a statistic must be to be shown at the level. */
  readonly critical: number;
  readonly statistics: readonly StatisticTest[];
};

export type PartOptions = {
  readonly permutations: number;
  readonly resamples: number;
  readonly seed: number;
  readonly alpha: number;
};

/** Statistics that differ by less, in proportion, differ by rounding only. */
const ROUNDING = 1e-9;

/**
 * Tests statistics of two arms together: units are divided anew at random, the same divisions for all statistics, each statistic counted
 * in its deviations, and the largest is compared (Westfall and Young, "Resampling-Based Multiple Testing", 1993). One false alarm is as
 * likely as the level says, however many statistics there are.
 */
export const testPart = (
  units: readonly RunUnit[],
  statistics: Readonly<Record<string, DivisionStatistic>>,
  { permutations, resamples, seed, alpha }: PartOptions,
): PartTest => {
  const names = Object.keys(statistics);
  const sides = Uint8Array.from(units, ({ isB }) => Number(isB));
  const once = new Int32Array(units.length).fill(1);
  const random = seededRandom(seed);
  const order = Int32Array.from(sides.keys());
  const divided: (readonly (number | null)[])[] = [names.map((name) => statistics[name]!(sides, once))];
  const permuted = new Uint8Array(units.length);
  for (let i = 0; i < permutations; i++) {
    shuffle(order, random);
    for (const [to, from] of order.entries()) permuted[to] = sides[from]!;
    divided.push(names.map((name) => statistics[name]!(permuted, once)));
  }
  const moments = names.map((_, k) => momentsOf(divided.map((values) => values[k] ?? null)));
  const heights = divided.map((values) => {
    const z = values.map((value, k) => heightOf(value, moments[k]!)).filter((each) => each !== null);
    return z.length === 0 ? null : Math.max(...z);
  });
  const [height = null] = heights;
  const known = heights.slice(1).map((each) => each ?? Infinity);
  const finite = known.filter(Number.isFinite).sort((a, b) => a - b);
  return {
    p: height === null ? null : (1 + countFrom(known, height)) / (1 + permutations),
    critical: finite.length === 0 ? Infinity : quantile(finite, 1 - alpha),
    statistics: names.map((name, k) => {
      const values = divided.map((each) => each[k] ?? null);
      const [observed = null, ...rest] = values;
      const { mean, deviation } = moments[k]!;
      return {
        name,
        observed,
        p:
          observed === null
            ? null
            : (1 +
                countFrom(
                  rest.map((value) => value ?? Infinity),
                  observed,
                )) /
              (1 + permutations),
        mean,
        deviation,
        interval:
          observed === null ? null : intervalOf(units, statistics[name]!, observed, { resamples, random }),
      };
    }),
  };
};

/** How many values are as large, but for rounding. */
const countFrom = (values: readonly number[], observed: number): number => {
  const bound = observed - ROUNDING * Math.max(1e-6, Math.abs(observed));
  return values.filter((value) => value >= bound).length;
};

type Moments = { readonly mean: number; readonly deviation: number };

const momentsOf = (values: readonly (number | null)[]): Moments => {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { mean: 0, deviation: 0 };
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length;
  const deviation = Math.sqrt(variance);
  return { mean, deviation: deviation <= ROUNDING * Math.max(1e-6, Math.abs(mean)) ? 0 : deviation };
};

const heightOf = (value: number | null, { mean, deviation }: Moments): number | null =>
  value === null || deviation === 0 ? null : (value - mean) / deviation;

/** The basic bootstrap interval (Efron and Tibshirani): units of each arm are drawn with replacement. */
const intervalOf = (
  units: readonly RunUnit[],
  statistic: DivisionStatistic,
  observed: number,
  { resamples, random }: { readonly resamples: number; readonly random: Random },
): Interval | null => {
  const sides = Uint8Array.from(units, ({ isB }) => Number(isB));
  const arms = [0, 1].map((side) => [...sides.keys()].filter((unit) => sides[unit] === side));
  const times = new Int32Array(units.length);
  const found: number[] = [];
  for (let i = 0; i < resamples; i++) {
    times.fill(0);
    for (const arm of arms) for (let k = 0; k < arm.length; k++) times[arm[random.below(arm.length)]!]!++;
    const value = statistic(sides, times);
    if (value !== null) found.push(value);
  }
  if (found.length === 0) return null;
  const { low, high } = percentileInterval(found, 0.95);
  return { low: 2 * observed - high, high: 2 * observed - low };
};
