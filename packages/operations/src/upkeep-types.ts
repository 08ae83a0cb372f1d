import type { RowsToVerify } from './verify-rows.ts';

export type ReplayOptions = {
  readonly verify: boolean;
  /**
   * With `verify`: one replay for each, with this many frames in a batch. Default: one replay, with the projector's
   * own limits.
   */
  readonly batches?: readonly number[];
  /** With `verify`: stop at random places and begin again with empty caches. */
  readonly stops?: boolean;
  readonly progress?: (frames: number) => void;
};

export type ReplayReport = {
  readonly events: number;
  readonly accepted: number;
  readonly stale: number;
  readonly rows: number;
  readonly differences: number;
  /** Where the first difference is, in a sentence; null where there is none. */
  readonly firstDifference: string | null;
  readonly seconds: number;
};

export type VerifyOptions = {
  /** How many rows are looked at. Default: a sample of each table, and of histories. */
  readonly rows?: RowsToVerify;
  readonly progress?: (bytes: number, total: number) => void;
};

export type VerifyReport = {
  readonly ok: boolean;
  readonly records: number;
  readonly contents: number;
  /** Rows that were looked at. */
  readonly rows: number;
  readonly stale: number;
  readonly problems: readonly {
    readonly kind: string;
    readonly partition: number | null;
    readonly offset: number | null;
    readonly history: string | null;
    /** The `seq` at which the history stops. */
    readonly seq: number | null;
    readonly message: string;
  }[];
};
