import { isStemmaError } from '@stemma/errors';
import { anySignal } from '@stemma/machine';
import type { Assignment } from '@stemma/postgres';
import { setTimeout as sleep } from 'node:timers/promises';

export type FoldAssigned = {
  /** Joins those who share the partitions; tries until it can. */
  readonly open: () => Promise<Assignment>;
  /** Folds these partitions until the signal aborts. */
  readonly fold: (partitions: readonly number[], until: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly say: (sentence: string) => void;
  /** Milliseconds between two looks at who is there. Default 1,000. */
  readonly pause?: number;
};

/**
 * Folds the partitions that are assigned to this process, again whenever they change, until the signal aborts. Where the
 * assignment is lost with its connection, nothing is folded until there is another.
 *
 * @throws what `fold` throws, and what `open` and the assignment throw but for what passes
 */
export const foldAssigned = async ({
  open,
  fold,
  signal,
  say,
  pause = 1_000,
}: FoldAssigned): Promise<void> => {
  const failed = new AbortController();
  const over = anySignal([signal, failed.signal]);
  let assigned: readonly number[] = [];
  let change = new AbortController();
  let folding = Promise.resolve();
  const assign = (partitions: readonly number[]): void => {
    if (partitions.join() === assigned.join()) return;
    assigned = partitions;
    change.abort();
    change = new AbortController();
    const { signal: changed } = change;
    const until = anySignal([over, changed]);
    folding = folding.then(async () => {
      if (until.aborted || partitions.length === 0) return;
      say(`partitions ${partitions.join(', ')}`);
      try {
        await fold(partitions, until);
      } catch (error) {
        // Somebody else folds them now: what went wrong is found there, if it still is.
        if (!changed.aborted && !signal.aborted) failed.abort(error);
      }
    });
  };

  let assignment: Assignment | undefined;
  try {
    while (!over.aborted) {
      try {
        if (assignment) await assignment.renew();
        else assignment = await open();
        assign(assignment.partitions());
      } catch (error) {
        if (signal.aborted || !isStemmaError(error) || !error.row.retriable) throw error;
        assign([]);
        await assignment?.close();
        assignment = undefined;
        continue;
      }
      await sleep(pause, undefined, { signal: over }).catch(() => undefined);
    }
  } finally {
    change.abort();
    await folding;
    await assignment?.close();
  }
  failed.signal.throwIfAborted();
};
