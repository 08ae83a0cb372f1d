import type { RerunCall } from './rerun-call.ts';

/** Recorded calls of one kind, the earliest first, of which those are found that were not played. */
export type Pending = {
  readonly key: string;
  /** The calls that no call was the same as. */
  readonly unmatched: () => Iterable<RerunCall>;
  /** The calls that were not compared with any, {@link MOST_LISTED} at most. */
  readonly unplayed: () => readonly RerunCall[];
};

const MOST_LISTED = 100;

/** Calls at the beginning of the list that were played are passed over once, so all looks together cost what the list is long. */
export const openPending = (key: string, calls: readonly RerunCall[]): Pending => {
  let firstUnmatched = 0;
  let firstUnplayed = 0;
  return {
    key,
    *unmatched() {
      while (calls[firstUnmatched]?.played === 'yes') firstUnmatched++;
      for (let i = firstUnmatched; i < calls.length; i++) {
        const call = calls[i] as RerunCall;
        if (call.played !== 'yes') yield call;
      }
    },
    unplayed: () => {
      while (firstUnplayed < calls.length && calls[firstUnplayed]?.played !== 'no') firstUnplayed++;
      const found: RerunCall[] = [];
      for (let i = firstUnplayed; i < calls.length && found.length < MOST_LISTED; i++)
        if (calls[i]?.played === 'no') found.push(calls[i] as RerunCall);
      return found;
    },
  };
};
