import { fisherExact, quantile, triesNeeded, wilsonInterval, type Passed } from '@stemma/analysis';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { sumOfPrices, type CallPrice } from '@stemma/model-apis';

/** Tokens that calls took; null: one of them does not say. */
export type TokenSum = { readonly input: number | null; readonly output: number | null };

/** What calls of a rerun took. */
export type LiveFigures = {
  readonly calls: number;
  readonly tokens: TokenSum;
  readonly cost: CallPrice | null;
};

/** One of the reruns of an arm. */
export type ArmRerun = LiveFigures & { readonly passed: boolean; readonly ms: number };

/** How reruns with the same change came out. */
export type ArmFigures = Passed &
  LiveFigures & {
    /** The share that would pass, with 95 % confidence. */
    readonly interval: { readonly low: number; readonly high: number };
    /** The median of how long they took, in milliseconds. */
    readonly ms: number;
  };

/** How far apart the shares of two arms are that passed. */
export type PassedComparison = {
  /** Fisher's exact test, two-sided. */
  readonly p: number;
  /** Tries of each arm with which a difference of this size would be seen four times in five; null: there is none. */
  readonly needed: number | null;
};

const PAGE = 1_000;

/** What the calls took that are recorded on branches themselves, and not on those that they part from. */
export const liveFigures = async (
  home: Pick<Home, 'calls'>,
  branches: readonly BranchRef[],
): Promise<LiveFigures> => {
  const own: LiveFigures[] = [];
  for (const branch of branches)
    for (let from: number | null = 0; from !== null;) {
      const page = await home.calls.list(branch, { from, limit: PAGE });
      for (const { branchId, reassignedTo, usage, cost } of page.attempts) {
        if (branchId !== branch.branchId || reassignedTo !== null) continue;
        const tokens = { input: usage?.input ?? null, output: usage?.output ?? null };
        own.push({ calls: 1, tokens, cost });
      }
      from = page.next;
    }
  return sumOf(own);
};

const NOTHING: LiveFigures = { calls: 0, tokens: { input: 0, output: 0 }, cost: null };

const sumOf = (all: readonly LiveFigures[]): LiveFigures => {
  const live = all.filter(({ calls }) => calls > 0);
  if (live.length === 0) return NOTHING;
  return {
    calls: live.reduce((sum, { calls }) => sum + calls, 0),
    tokens: {
      input: sumIfKnown(live.map(({ tokens }) => tokens.input)),
      output: sumIfKnown(live.map(({ tokens }) => tokens.output)),
    },
    cost: sumOfPrices(live.map(({ cost }) => cost)),
  };
};

const sumIfKnown = (counts: readonly (number | null)[]): number | null => {
  let sum = 0;
  for (const count of counts) {
    if (count === null) return null;
    sum += count;
  }
  return sum;
};

/** The figures of an arm of one rerun at least. */
export const armFigures = (reruns: readonly ArmRerun[]): ArmFigures => {
  const counts = { passed: reruns.filter(({ passed }) => passed).length, tried: reruns.length };
  return {
    ...{ ...counts, ...sumOf(reruns) },
    interval: wilsonInterval(counts),
    ms: quantile(
      reruns.map(({ ms }) => ms).sort((a, b) => a - b),
      0.5,
    ),
  };
};

/** Whether two arms pass equally often. */
export const comparePassed = (a: Passed, b: Passed): PassedComparison => ({
  p: fisherExact(a, b),
  needed: triesNeeded(a, b),
});
