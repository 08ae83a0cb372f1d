/** What a rerun would do, said before the command starts. */
export type RerunPlan = {
  /** Recorded calls, and those that would be served. */
  readonly calls: number;
  readonly served: number;
  /** Calls that cannot be served; unless `onDifference` is `live` the rerun is refused. */
  readonly refused: readonly RefusedCall[];
  /** Names of tools that the recorded answers called: they run again. */
  readonly tools: readonly string[];
};

export type RefusedCall = { readonly label: string; readonly why: 'unknown' | 'not kept' | 'redacted' };
