import { fail, isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { readHistoryHead, type BranchRef, type Position } from '@stemma/history-store';
import type { GenerationView } from '@stemma/row-store';
import { findBranchRef } from './find-branch.ts';
import { positionOf, stateOf } from './read.ts';

/**
 * The branch that an address names. @throws E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE if not even the first frame is
 * good
 */
export const findServedBranch = (rows: GenerationView, name: string): BranchRef => {
  try {
    return findBranchRef(rows, name);
  } catch (error) {
    if (!isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
    for (const history of [name, historyId(name, '')]) {
      const { state = 'open' } = readHistoryHead(rows, history) ?? {};
      if (state !== 'open')
        throw fail(
          state === 'damaged' ? 'E_HISTORY_DAMAGED' : 'E_HISTORY_DEFECTIVE',
          `the history ${JSON.stringify(name)} is ${state} from its first frame on: no position of it can be served`,
          { history, seq: 0 },
        );
    }
    throw error;
  }
};

/**
 * The position of a reference. @throws E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE for one that may lie after the last
 * good frame
 */
export const findServedPosition = (rows: GenerationView, branchRef: BranchRef, ref: string): Position => {
  try {
    return positionOf(rows, branchRef, ref);
  } catch (error) {
    const { state, stopped } = stateOf(rows, branchRef.history);
    if (state === 'open' || !isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
    throw fail(
      state === 'damaged' ? 'E_HISTORY_DAMAGED' : 'E_HISTORY_DEFECTIVE',
      `${error.message}: the history is ${state} at seq ${stopped ?? '?'}, and nothing after it is served`,
      { history: branchRef.history, seq: stopped },
    );
  }
};
