import { fail, isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import {
  DEFECTS,
  HISTORY_HEADS,
  readHistoryHead,
  type BranchRef,
  type Position,
} from '@stemma/history-store';
import { findRow, listRows, type GenerationView } from '@stemma/row-store';
import { findBranchRef, ID_BEGINNING } from './find-branch.ts';
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
    for (const history of [name, historyId(name, ''), ...beginningWith(rows, name)]) {
      const { state = 'open' } = readHistoryHead(rows, history) ?? {};
      const code = state === 'defective' ? findRow(rows, DEFECTS, { history })?.code : undefined;
      if (code === 'E_HISTORY_ERASED' || code === 'E_HISTORY_SEALED')
        throw fail(
          code,
          code === 'E_HISTORY_ERASED'
            ? `the history ${JSON.stringify(name)} was erased`
            : `the history ${JSON.stringify(name)} is sealed, and its key is not here`,
          { history },
        );
      if (state !== 'open')
        throw fail(
          state === 'damaged' ? 'E_HISTORY_DAMAGED' : 'E_HISTORY_DEFECTIVE',
          `the history ${JSON.stringify(name)} is ${state} from its first frame on and cannot be served`,
          { history, seq: 0 },
        );
    }
    throw error;
  }
};

/** The history whose id begins so; the beginning of an id names a history, also one that is not served. */
const beginningWith = (rows: GenerationView, name: string): readonly string[] =>
  ID_BEGINNING.test(name)
    ? listRows(rows, HISTORY_HEADS, {}, { from: name, limit: 1 })
        .map(({ history }) => history)
        .filter((history) => history.startsWith(name))
    : [];

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
      `${error.message}: the history is ${state} at seq ${stopped ?? '?'}, and frames after it are not served`,
      { history: branchRef.history, seq: stopped },
    );
  }
};
