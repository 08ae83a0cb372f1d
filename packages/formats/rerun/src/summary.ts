import type { Difference } from './difference/difference.ts';
import type { LedTo, CallResult, WorldDifference } from './report/report.ts';
import type { Binding } from './values/bindings.ts';

/** What came of a rerun, with all that its report is made of. */
export type RerunSummary = {
  /** In the order in which calls came; behind them those that are missing, as recorded. */
  readonly calls: readonly SummarizedCall[];
  readonly counts: RerunCounts;
  readonly world: readonly WorldDifference[];
  /** Values that were bound, each once, in the order in which they were. */
  readonly bindings: readonly Binding[];
  /** Sentences for people: attempts that were not asked for, differences that are a guess. */
  readonly notes: readonly string[];
};

export type RerunCounts = {
  /** Calls that are the same, in whatever order. */
  readonly same: number;
  readonly bound: number;
  readonly differs: number;
  readonly extra: number;
  readonly missing: number;
  readonly live: number;
  readonly notKept: number;
  /** Calls of the recording. */
  readonly recorded: number;
};

export type SummarizedCall = {
  readonly label: string;
  readonly how: CallResult;
  readonly bindings: readonly Binding[];
  readonly difference: Difference | null;
  /** Of a difference in a message: the recorded calls that show it, as recorded; empty for others. */
  readonly shownTo: readonly string[];
  readonly ledTo: LedTo | null;
};
