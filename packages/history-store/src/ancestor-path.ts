import { fail } from '@stemma/errors';
import type { RowReader } from '@stemma/row-store';
import { BRANCHES } from './tables.ts';

/** A branch on the way from the root to a position, and the last of its frames that counts there. */
export type Segment = { readonly branchId: number; readonly limit: number };

/** A branch as its row has it. */
export type Branch = {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  /** Where the mark lies that holds at its beginning; null for the root. */
  readonly metaAt: { readonly branchId: number; readonly seq: number } | null;
  readonly name: string | null;
  readonly thread: 'full' | 'pre';
};

/** @throws E_BRANCH_NOT_FOUND, or E_HISTORY_NOT_FOUND where there is not even a root. */
export const readBranch = (rows: RowReader, history: string, branchId: number): Branch => {
  const value = rows.get(BRANCHES, [history, branchId]);
  if (value === undefined) {
    if (branchId === 0) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
    throw fail('E_BRANCH_NOT_FOUND', `the history ${history} has no branch ${branchId}`, {
      history,
      branchId,
    });
  }
  const [parent, at, metaBranchId, metaSeq, name, thread] = value as [
    number | null,
    number,
    number,
    number,
    string | null,
    string,
  ];
  return {
    branchId,
    parent: parent === null ? null : { branchId: parent, at },
    metaAt: parent === null ? null : { branchId: metaBranchId, seq: metaSeq },
    name,
    thread: thread === 'pre' ? 'pre' : 'full',
  };
};

/**
 * The ancestor path of a position, root first: the branch itself up to `seq`, every ancestor up to the smallest of the `at`s met
 * on the way (its own child's alone would let a grandparent's later frames in) (snapshots: branches).
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
