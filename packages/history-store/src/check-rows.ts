import { compareBytes } from '@stemma/canonical';
import type { PayloadSource } from '@stemma/context-tree';
import { loadBranch, type BranchState } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { findSnapshot, type SnapshotRow } from './list-snapshots.ts';
import type { Position } from './position.ts';
import { readPositionMeta } from './position-meta.ts';
import { readBranchState } from './read-position.ts';
import { asTree, rowsDiffer } from './rows-differ.ts';
import { BRANCHES } from './tables.ts';

/*
 * A row's checksum says that it is what was written, not that it is there. What was read of a position is all there is if
 * it has the hash that its snapshot recorded.
 */

/** The snapshot that a position is; undefined if it is none. @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND */
export const snapshotAtPosition = (
  rows: RowReader,
  { history, branchId, seq }: Pick<Position, 'history' | 'branchId' | 'seq'>,
): SnapshotRow | undefined => {
  const found = newestSnapshot(rows, history, branchId, seq);
  return found?.branchId === branchId && found.seq === seq ? found : undefined;
};

const newestSnapshot = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): SnapshotRow | undefined => {
  const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
  return findSnapshot(rows, history, branchId, seq, cycle);
};

/**
 * Compares a branch as it was loaded, or, if it has changed since, its newest snapshot as the same rows give it, with the
 * recorded hashes. What is computed for it is computed for the next commit, too.
 *
 * @throws E_ROWS_DAMAGED, Missing (payloads)
 */
export const checkLoadedBranch = (
  rows: RowReader,
  history: string,
  branch: BranchState,
  payload: PayloadSource,
): void => {
  const snapshot = newestSnapshot(rows, history, branch.branchId, branch.seq);
  if (snapshot === undefined) return;
  const { branchId, seq } = snapshot;
  const same = branchId === branch.branchId && seq === branch.seq;
  const { tree } = same ? branch : loadBranchFromRows(rows, history, branchId, seq);
  const { treeHash, threadHash } = tree.hashes(payload);
  tree.forget();
  if (compareBytes(treeHash, snapshot.treeHash) !== 0 || compareBytes(threadHash, snapshot.threadHash) !== 0)
    throw rowsDiffer(history, branchId, seq);
};

/**
 * The state of a branch as rows have it; `seq` null: at its tip.
 *
 * @throws E_ROWS_DAMAGED if the rows do not make a tree. E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const loadBranchFromRows = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number | null,
): BranchState =>
  asTree({ history, branchId, seq: seq ?? -1 }, () =>
    loadBranch(readBranchState(rows, history, branchId, seq)),
  );

/**
 * Compares the rows of a branch as they are with its newest snapshot.
 *
 * @throws E_ROWS_DAMAGED, Missing (payloads)
 */
export const checkBranchRows = (
  rows: RowReader,
  history: string,
  branchId: number,
  payload: PayloadSource,
): void => {
  if (rows.get(BRANCHES, [history, branchId]) === undefined) return;
  checkLoadedBranch(rows, history, loadBranchFromRows(rows, history, branchId, null), payload);
};
