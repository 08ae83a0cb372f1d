import { compareBytes } from '@stemma/canonical';
import { UNLOADED, type Hashes, type PayloadSource, type Tree } from '@stemma/context-tree';
import type { BranchState } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { isMissing } from '@stemma/suspend';
import { newestSnapshot, type SnapshotRow } from './list-snapshots.ts';
import { loadBranchFromRows, loadTurns } from './load-branch.ts';
import type { Position } from './position.ts';
import { rowsDiffer } from './rows-differ.ts';
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
  const { treeHash, threadHash } = hashesOf(rows, history, tree, payload);
  tree.forget();
  const { nodes, blocks, turns } = tree.counts;
  if (nodes !== snapshot.nodes || blocks !== snapshot.blocks || turns !== snapshot.turns)
    throw rowsDiffer(history, branchId, seq);
  if (compareBytes(treeHash, snapshot.treeHash) !== 0 || compareBytes(threadHash, snapshot.threadHash) !== 0)
    throw rowsDiffer(history, branchId, seq);
};

const hashesOf = (rows: RowReader, history: string, tree: Tree, payload: PayloadSource): Hashes => {
  for (;;)
    try {
      return tree.hashes(payload);
    } catch (error) {
      if (!isMissing(error, UNLOADED)) throw error;
      loadTurns(rows, history, error.needs, payload);
    }
};

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
