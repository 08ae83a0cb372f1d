import type { VerifiedCalls } from './verify-calls/verify-calls.ts';
import type { RowsToVerify } from './verify-rows.ts';

export type ReplayOptions = {
  readonly verify: boolean;
  /**
   * With `verify`: one replay for each, with this many frames in a batch. Default: one replay, with the projector's
   * own limits.
   */
  readonly batches?: readonly number[];
  /** With `verify`: stops at random frames and continues with empty caches. */
  readonly stops?: boolean;
  readonly progress?: (frames: number) => void;
};

export type ReplayReport = {
  readonly events: number;
  readonly accepted: number;
  readonly stale: number;
  readonly rows: number;
  readonly differences: number;
  /** A sentence that says where the first difference is; null if there is none. */
  readonly firstDifference: string | null;
  /** With `verify`: the recorded calls against their threads, all of them. */
  readonly calls: VerifiedCalls | null;
  readonly seconds: number;
};

export type VerifyOptions = {
  /** How many rows and calls to check. Default: a sample of each table and of the histories. */
  readonly rows?: RowsToVerify;
  readonly progress?: (bytes: number, total: number) => void;
};

export type VerifyReport = {
  readonly ok: boolean;
  readonly records: number;
  readonly contents: number;
  /** The number of rows that were checked. */
  readonly rows: number;
  readonly stale: number;
  /** Recorded calls whose requests were compared with their threads, and those that could not be, by reason. */
  readonly calls: Omit<VerifiedCalls, 'problems'>;
  readonly problems: readonly {
    readonly kind: string;
    readonly partition: number | null;
    readonly offset: number | null;
    readonly history: string | null;
    /** The `seq` at which the history stops. */
    readonly seq: number | null;
    readonly message: string;
  }[];
  /** Histories whose keys are not in this home: their records are whole, what is in them was not checked. */
  readonly sealed: readonly string[];
};
