import type { BranchPosition } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import { findBranch } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/**
 * True if a frame was written to a branch, or to a predecessor before a rollback abandoned it. So a client that
 * follows a history by its id sees all of its past, but no frame that is written to an abandoned branch later.
 */
export const isFrameOfBranch = (
  rows: RowReader,
  { history, branchId }: Pick<BranchRef, 'history' | 'branchId'>,
  frame: BranchPosition,
): boolean => {
  let currentId = frame.branchId;
  while (currentId !== branchId) {
    // The id of a branch is the number of its first frame.
    const abandonedBy = findBranch(rows, history, currentId)?.abandonedBy ?? null;
    if (abandonedBy === null || frame.seq > abandonedBy) return false;
    currentId = abandonedBy;
  }
  return true;
};
