import { branchAddress } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { findSnapshot } from './list-snapshots.ts';
import { findBranchByName } from './lookups.ts';
import { readPositionMeta } from './position-meta.ts';
import { labelPosition, type BranchRef, type Position } from './position.ts';

/** The line of a branch, named as if no rollback had moved `main`. */
export const branchRefOf = (history: string, branchId: number): BranchRef => ({
  history,
  branchId,
  branch: branchAddress(history, branchId),
});

/**
 * What names a branch now: the history's id for the one that has the name `main`, else `<history>:<branch id>`. After a
 * rollback the history's id means the branch that went on, and `<history>:0` the first.
 */
export const branchAddressOf = (rows: RowReader, history: string, branchId: number): string => {
  return branchId === mainBranchId(rows, history) ? branchAddress(history, 0) : `${history}:${branchId}`;
};

/** The branch that has the name `main` now. */
export const mainBranchId = (rows: RowReader, history: string): number =>
  findBranchByName(rows, history, 'main') ?? 0;

/** The position of a branch after a frame. */
export const positionOfFrame = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): Position => {
  const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
  const committed = findSnapshot(rows, history, branchId, seq, cycle)?.seq === seq;
  return labelPosition({ history, branchId, seq, cycle, committed, main: mainBranchId(rows, history) });
};
