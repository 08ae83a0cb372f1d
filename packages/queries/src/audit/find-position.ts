import type { BranchRef, Position } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { findBranchOf } from '../find-branch.ts';
import { positionOf } from '../read.ts';

/**
 * The position that `@c3`, `BRANCH@c3` or a branch alone (by name or id: its draft) refers to.
 *
 * @throws E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const findPosition = (rows: RowReader, branchRef: BranchRef, text: string): Position => {
  if (text === '' || text.includes('@')) return positionOf(rows, branchRef, text);
  return positionOf(rows, findBranchOf(rows, branchRef.history, text), '');
};
