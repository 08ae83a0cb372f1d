import { branchAddress } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { findSnapshot } from './list-snapshots.ts';
import { findBranchByName } from './lookups.ts';
import { readPositionMeta } from './position-meta.ts';
import { labelPosition, type BranchRef, type Position } from './position.ts';

/** A branch under the address that it has while no rollback has passed on the name `main`. */
export const branchRefOf = (history: string, branchId: number): BranchRef => ({
  history,
  branchId,
  branch: branchAddress(history, branchId),
});

/**
 * The address that a branch has now. After a rollback the history's id names the branch that the rollback started, and
 * `<history>:0` the first.
 */
export const branchAddressOf = (rows: RowReader, history: string, branchId: number): string =>
  branchAddress(history, branchId, mainBranchId(rows, history));

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
