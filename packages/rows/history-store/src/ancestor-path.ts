import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import { findRow, type RowReader } from '@stemma/row-store';
import { BRANCHES } from './tables.ts';

/** A branch on an ancestor path, and the last of its frames that belongs to the path. */
export type Segment = { readonly branchId: number; readonly limit: number };

/** A branch, read from its row. */
export type Branch = {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  /** The key of the position metadata that hold where it begins; null for the root. */
  readonly metaAt: BranchPosition | null;
  readonly name: string | null;
  readonly thread: 'full' | 'pre';
};

/** The row of a branch. @throws E_BRANCH_NOT_FOUND, or E_HISTORY_NOT_FOUND if there is not even a root */
export const readBranch = (rows: RowReader, history: string, branchId: number): Branch => {
  const row = findRow(rows, BRANCHES, { history, branch_id: branchId });
  if (row === undefined) {
    if (branchId === 0) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
    throw fail('E_BRANCH_NOT_FOUND', `the history ${history} has no branch ${branchId}`, {
      history,
      branchId,
    });
  }
  const { parent, at, meta_branch_id, meta_seq, name, thread } = row;
  return {
    branchId,
    parent: parent === null ? null : { branchId: parent, at: at as number },
    metaAt: parent === null ? null : { branchId: meta_branch_id as number, seq: meta_seq as number },
    name,
    thread: thread === 'pre' ? 'pre' : 'full',
  };
};

/**
 * The ancestor path of a position, root first: the branch itself up to `seq`, every ancestor up to the smallest `at`
 * between it and the branch. The `at` of its own child alone would let in later frames of a grandparent
 * (snapshots: branches).
 */
export const readAncestorPath = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): readonly Segment[] => {
  const ancestorPath: Segment[] = [];
  let next: Branch['parent'] = { branchId, at: seq };
  let limit = seq;
  while (next !== null) {
    limit = Math.min(limit, next.at);
    ancestorPath.push({ branchId: next.branchId, limit });
    next = readBranch(rows, history, next.branchId).parent;
  }
  return ancestorPath.reverse();
};
