import { compareBytes } from '@stemma/canonical';
import {
  eachInSubtree,
  NODE_KIND,
  UNLOADED,
  type Hashes,
  type NodeRecord,
  type PayloadSource,
  type Tree,
  type TreeNode,
} from '@stemma/context-tree';
import type { BranchState } from '@stemma/history';
import { findRow, type RowReader } from '@stemma/row-store';
import { isMissing } from '@stemma/suspend';
import { newestSnapshot, type SnapshotRow } from './list-snapshots.ts';
import { loadBranchFromRows, loadTurns } from './load-branch.ts';
import { readPositionMeta } from './position-meta.ts';
import type { Position } from './position.ts';
import { rowsDiffer } from './rows-differ.ts';
import { sumOfNodes } from './sum-records.ts';
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
 * Compares a branch as it was loaded, or, if its tree has changed since, its newest snapshot as the same rows give it, with the
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
  const changed = changedSince(rows, history, branch, snapshot);
  const { tree } = changed === 'more' ? loadBranchFromRows(rows, history, branchId, seq) : branch;
  const { treeHash, threadHash } = hashesOf(rows, history, tree, payload, changed !== 'head');
  tree.forget();
  const { nodes, blocks, turns } = tree.counts;
  const open = changed === 'head' ? headNodes(tree) : [];
  const openBlocks = open.filter(({ kind }) => kind === NODE_KIND.block);
  if (
    nodes - open.length !== snapshot.nodes ||
    blocks - openBlocks.length !== snapshot.blocks ||
    turns !== snapshot.turns
  )
    throw rowsDiffer(history, branchId, seq);
  if (compareBytes(treeHash, snapshot.treeHash) !== 0 || compareBytes(threadHash, snapshot.threadHash) !== 0)
    throw rowsDiffer(history, branchId, seq);
};

/**
 * What a tree has that its newest snapshot had not: nothing, nodes of the head, which was empty then, or something else. It tells
 * by the sums of the records (decision 0051).
 */
const changedSince = (
  rows: RowReader,
  history: string,
  { branchId, seq, tree }: BranchState,
  snapshot: SnapshotRow,
): 'nothing' | 'head' | 'more' => {
  const { at, meta } = readPositionMeta(rows, history, branchId, seq);
  // A frame that changes a tree writes metadata.
  if (at.branchId === snapshot.branchId && at.seq === snapshot.seq) return 'nothing';
  const before = readPositionMeta(rows, history, snapshot.branchId, snapshot.seq).meta;
  const head = headNodes(tree).map(({ record }) => record as NodeRecord);
  return sumOfNodes(head, before.sum) === meta.sum ? 'head' : 'more';
};

/** The nodes of the head, without itself. */
const headNodes = ({ ah }: Tree): readonly TreeNode[] => {
  const found: TreeNode[] = [];
  for (const top of ah.kids ?? []) eachInSubtree(top, (node) => void found.push(node));
  return found;
};

const hashesOf = (
  rows: RowReader,
  history: string,
  tree: Tree,
  payload: PayloadSource,
  head: boolean,
): Hashes => {
  for (;;)
    try {
      return tree.hashes(payload, head);
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
  if (findRow(rows, BRANCHES, { history, branch_id: branchId }) === undefined) return;
  checkLoadedBranch(rows, history, loadBranchFromRows(rows, history, branchId, null), payload);
};
