/** What a recorder did, since it was opened. */
export type CallRecorderStatus = {
  /** Calls that are kept and not recorded yet. */
  readonly waiting: number;
  readonly recorded: number;
  /** Calls that found no room. */
  readonly dropped: number;
  /** Calls that cannot be recorded; the next process tries again. */
  readonly refused: number;
  readonly lastError: string | null;
  /** Where calls wait; null: in memory. */
  readonly directory: string | null;
};
