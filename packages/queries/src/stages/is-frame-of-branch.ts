import type { BranchRef } from '@stemma/history-store';
import { findBranch } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/**
 * Whether a frame was written to a branch, or to one that was what the branch is now until a rollback left it: whoever
 * follows a history by its id hears of all that it went through, but of nothing that was written to a left branch since.
 */
export const isFrameOfBranch = (
  rows: RowReader,
  { history, branchId }: Pick<BranchRef, 'history' | 'branchId'>,
  frame: { readonly branchId: number; readonly seq: number },
): boolean => {
  let currentId = frame.branchId;
  while (currentId !== branchId) {
    // The branch of a branch is its first frame.
    const abandonedBy = findBranch(rows, history, currentId)?.abandonedBy ?? null;
    if (abandonedBy === null || frame.seq > abandonedBy) return false;
    currentId = abandonedBy;
  }
  return true;
};
