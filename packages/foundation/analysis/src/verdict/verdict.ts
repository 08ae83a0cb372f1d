import { fail } from '@stemma/errors';
import type { Interval } from '../statistics/effect-size.ts';
import { choiceDistance, choiceNames } from './choices.ts';
import { testPart, type PartTest, type StatisticTest } from './max-test.ts';
import { normalShare } from './normal.ts';
import { leastRuns, unitsOf, type RecordedRun, type UnitKind } from './runs.ts';
import { tellingOf, type TellingName } from './telling.ts';

/** What an intervention changed (pool §7.5). */
export const VERDICTS = [
  'decisions differ',
  'only the telling differs',
  'both',
  'neither',
  'cannot tell',
] as const;
export type VerdictWord = (typeof VERDICTS)[number];

/** The sizes that a verdict asks for: a difference so large should be seen, a smaller one may be missed. */
export const SIZES = {
  /** One choice in four is another one. */
  decisions: 0.25,
  /** The arm explains so much of how texts about the same vary. */
  telling: 0.05,
} as const;

/** Power that suffices to say that there is no difference of that size. */
const ENOUGH = 0.8;

/** A difference in one respect. */
export type MeasuredDifference = {
  readonly name: string;
  /** Decisions: the share of choices that differ; telling: the share of the variation that the arm explains. 0 to 1. */
  readonly effect: number | null;
  readonly interval: Interval | null;
  readonly p: number | null;
};

/** One half of a verdict. */
export type VerdictPart = {
  readonly p: number | null;
  readonly isDifferent: boolean;
  /** The size of difference that is asked for, and the chance to see one. */
  readonly size: number;
  readonly power: number;
  /** Units in each arm (runs, where nothing is judged yet) with which that chance is 0.8, or which it takes at least; null: not known. */
  readonly needed: number | null;
  readonly differences: readonly MeasuredDifference[];
};

export type RunVerdict = {
  readonly verdict: VerdictWord;
  /** What is divided at random: runs, or, where there are too few, pieces of successive steps. */
  readonly units: UnitKind;
  /** False: there are too few runs to judge by; p says how far these runs are apart, not what made them differ. */
  readonly isJudged: boolean;
  readonly a: { readonly runs: number; readonly steps: number; readonly units: number };
  readonly b: { readonly runs: number; readonly steps: number; readonly units: number };
  readonly alpha: number;
  readonly permutations: number;
  readonly seed: number;
  readonly decisions: VerdictPart;
  readonly telling: VerdictPart;
};

export type VerdictOptions = {
  readonly permutations?: number;
  readonly resamples?: number;
  readonly seed?: number;
  /** How often an experiment in which nothing differs may be called different. Each half gets half of it. Default 0.05. */
  readonly alpha?: number;
  /** `steps`: the caller takes the steps of a run to be independent of each other. Default: only runs are. */
  readonly unit?: UnitKind;
};

/**
 * Whether two arms decide differently, or only tell it differently. Both halves are tested apart, each at half of the level; "only" and
 * "neither" are said where a difference of the named size would have been seen, else nothing can be told.
 *
 * @throws E_USAGE for an arm without a step, and options that cannot be
 */
export const compareRuns = (
  a: readonly RecordedRun[],
  b: readonly RecordedRun[],
  { permutations = 1999, resamples = 999, seed = 0, alpha = 0.05, unit = 'runs' }: VerdictOptions = {},
): RunVerdict => {
  if (!Number.isSafeInteger(permutations) || permutations < 1)
    throw fail('E_USAGE', `the number of permutations must be a whole number from 1, not ${permutations}`);
  if (!(alpha > 0 && alpha < 1)) throw fail('E_USAGE', `the level must lie between 0 and 1, not ${alpha}`);
  for (const [arm, name] of [
    [a, 'the first'],
    [b, 'the second'],
  ] as const)
    if (arm.every(({ steps }) => steps.length === 0))
      throw fail('E_USAGE', `${name} arm has no step to compare`);
  const level = alpha / 2;
  const { kind, units, isEnough } = unitsOf(a, b, level, unit);
  const options = { permutations, resamples, seed, alpha: level };
  const perArm = Math.min(units.filter(({ isB }) => isB).length, units.filter(({ isB }) => !isB).length);
  const half = (part: PartTest, rest: Omit<HalfOptions, 'level' | 'isEnough' | 'perArm'>): VerdictPart =>
    halfOf(part, { ...rest, level, isEnough, perArm });
  const choices = testPart(
    units,
    Object.fromEntries(choiceNames(units).map((name) => [name, choiceDistance(units, name)])),
    options,
  );
  const decisions = half(choices, {
    size: SIZES.decisions,
    // A distance is never below 0: what chance adds to a small one, it hardly adds to a large one.
    excess: ({ mean }, size) => Math.sqrt(mean * mean + size * size) - mean,
    effect: ({ mean }, value) => clamped(value - mean),
  });
  const told = tellingOf(units);
  const telling = half(testPart(units, told.statistics, { ...options, seed: seed + 1 }), {
    size: SIZES.telling,
    excess: ({ name }, size) => told.valueOf(name as TellingName, size),
    effect: ({ name }, value) => told.share(name as TellingName, value),
  });
  const sizeOf = (runs: readonly RecordedRun[], isB: boolean) => ({
    runs: runs.length,
    steps: runs.reduce((sum, { steps }) => sum + steps.length, 0),
    units: units.filter((unit) => unit.isB === isB).length,
  });
  return {
    verdict: isEnough ? wordFor(decisions, telling) : 'cannot tell',
    units: kind,
    isJudged: isEnough,
    a: sizeOf(a, false),
    b: sizeOf(b, true),
    ...{ alpha, permutations, seed, decisions, telling },
  };
};

const wordFor = (decisions: VerdictPart, telling: VerdictPart): VerdictWord => {
  if (decisions.isDifferent) return telling.isDifferent ? 'both' : 'decisions differ';
  if (decisions.power < ENOUGH) return 'cannot tell';
  if (telling.isDifferent) return 'only the telling differs';
  return telling.power < ENOUGH ? 'cannot tell' : 'neither';
};

const clamped = (value: number): number => Math.min(1, Math.max(0, value));

type HalfOptions = {
  readonly size: number;
  readonly level: number;
  readonly isEnough: boolean;
  readonly perArm: number;
  /** How much larger than by chance a statistic is where the difference has this size. */
  readonly excess: (test: StatisticTest, size: number) => number;
  readonly effect: (test: StatisticTest, value: number) => number;
};

const halfOf = (
  part: PartTest,
  { size, level, isEnough, perArm, excess, effect }: HalfOptions,
): VerdictPart => {
  const known = part.statistics.filter(({ observed }) => observed !== null);
  /** The chance that any of the statistics is high enough, with so many times the units. */
  const powerWith = (times: number): number =>
    Math.max(
      0,
      ...known
        .filter(({ deviation }) => deviation > 0)
        .map((test) => {
          const [mean, deviation] = [test.mean / Math.sqrt(times), test.deviation / Math.sqrt(times)];
          return normalShare(excess({ ...test, mean }, size) / deviation - part.critical);
        }),
    );
  const power = isEnough && Number.isFinite(part.critical) ? powerWith(1) : 0;
  return {
    p: part.p,
    isDifferent: isEnough && part.p !== null && part.p <= level,
    size,
    power,
    needed: isEnough
      ? neededUnits(powerWith, perArm, Number.isFinite(part.critical) && known.length > 0)
      : leastRuns(level),
    differences: part.statistics.map((test) => ({
      name: test.name,
      effect: test.observed === null ? null : effect(test, test.observed),
      interval:
        test.interval === null
          ? null
          : { low: effect(test, test.interval.low), high: effect(test, test.interval.high) },
      p: test.p,
    })),
  };
};

/** The fewest units of an arm that suffice, by how deviations shrink with their number. */
const neededUnits = (
  powerWith: (times: number) => number,
  perArm: number,
  isKnown: boolean,
): number | null => {
  if (!isKnown || perArm === 0 || powerWith(1_000) < ENOUGH) return null;
  let [low, high] = [0, 1_000 * perArm];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (powerWith(middle / perArm) >= ENOUGH) high = middle;
    else low = middle;
  }
  return high;
};
