import { isStemmaError, type StemmaError } from '@stemma/errors';
import type { Projection } from '../projection.ts';
import { setTimeout as sleep } from 'node:timers/promises';

/** Rows that are read as they are while the disk takes no more of them. */
export type CommittedRows = {
  /** Its `catchUp` resolves although the rows stay behind, if there are any. */
  readonly projection: Projection;
  /** Tries again if it is time. @throws E_ROWS_UNWRITABLE while they cannot be written */
  readonly check: () => Promise<void>;
};

/** Milliseconds between two attempts to write, and that a reader is held up meanwhile. */
const TIMES = { retry: 1_000, hold: 20 };

/**
 * Goes on with the rows that were committed when no more can be: a full disk is no reason not to answer. The next
 * attempt is made by who reads, a little later; what it needs is folded again.
 *
 * @param say told once that they stay behind, and once that they go on
 */
export const openCommittedRows = (
  rows: Projection,
  partitions: number,
  say: (sentence: string) => void,
  now: () => number = () => performance.now(),
): CommittedRows => {
  let stuck: { readonly error: StemmaError; readonly at: number } | null = null;

  /** Where nothing was ever committed, an empty answer would be a wrong one. */
  const hasRows = async (): Promise<boolean> => {
    for (let partition = 0; partition < partitions; partition++)
      if ((await rows.checkpoint(partition)) === undefined) return false;
    return true;
  };
  const attempt = async (partition?: number): Promise<void> => {
    try {
      await rows.catchUp(partition);
      if (stuck !== null) say('the rows are written again');
      stuck = null;
    } catch (error) {
      if (!isStemmaError(error, 'E_ROWS_UNWRITABLE')) throw error;
      if (stuck === null) say(`${error.message}: answers show what the rows had before`);
      stuck = { error, at: now() };
    }
  };
  const catchUp = async (partition?: number): Promise<void> => {
    if (stuck === null || now() - stuck.at >= TIMES.retry) await attempt(partition);
    const still = stuck?.error;
    if (still === undefined) return;
    if (!(await hasRows())) throw still;
    // Who follows the log asks again at once: it is longer than the rows.
    await sleep(TIMES.hold);
  };
  return {
    projection: { ...rows, catchUp },
    check: async () => {
      if (stuck !== null) await catchUp();
      const still = stuck?.error;
      if (still !== undefined) throw still;
    },
  };
};
