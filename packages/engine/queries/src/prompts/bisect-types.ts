import type { Cause } from '@stemma/history';
import type { Position } from '@stemma/history-store';
import type { Origin } from '../origin-types.ts';

/** What to search for between two snapshots of one history. */
export type BisectQuestion = {
  /** References to snapshots: the selector does not hold at `good`, it holds at `bad`. */
  readonly good: string;
  readonly bad: string;
  /** A selector without a position. It holds where it matches something, or, with `not`, where it matches nothing. */
  readonly when: string;
  readonly not?: boolean;
};

/** One entry of a difference and its causes. */
export type ExplainedChange = {
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly fields: readonly string[];
  readonly causes: readonly { readonly cause: Cause; readonly undone: boolean; readonly origin: Origin }[];
};

/** The first bad snapshot on the way from the good one to the bad one. */
export type BisectAnswer = {
  readonly first: Position;
  /** The snapshot just before it on the way. */
  readonly before: Position;
  /** `back`: the way leads back in time there, so that `first` is the older of the two. */
  readonly way: 'on' | 'back';
  /** What the selector matches at `first`, and at `before`; at most a hundred ids. */
  readonly matched: readonly string[];
  readonly matchedBefore: readonly string[];
  /** From the older of the two to the newer one, with causes. */
  readonly changes: readonly ExplainedChange[];
  /** Snapshots on the way, both ends included, and how many of them were evaluated. */
  readonly snapshots: number;
  readonly loads: number;
};
