import { readAncestorPath, readTipSeq, type BranchRef } from '@stemma/history-store';
import { listCallRows, positionFollowing, type CallRow } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/** Rows that are read at a time. */
const CHUNK = 500;

/**
 * At most `limit` calls on a branch's ancestor path, from the frame `from` on, and the frame that the next ones begin at. Of attempts with
 * one position each is of the branch that goes on from its answer.
 */
export const callsOnBranch = (
  rows: RowReader,
  { history, branchId }: BranchRef,
  from: number,
  limit: number,
): { readonly calls: readonly CallRow[]; readonly next: number | null } => {
  const path = readAncestorPath(rows, history, branchId, readTipSeq(rows, history, branchId));
  const limits = new Map(path.map((segment) => [segment.branchId, segment.limit] as const));
  const isWithin = (branch: number, seq: number): boolean => seq <= (limits.get(branch) ?? -1);
  const calls: CallRow[] = [];
  for (const row of callsFrom(rows, history, from)) {
    if (!isWithin(row.branchId, row.position)) continue;
    const following = positionFollowing(rows, history, row.attemptId);
    if (following !== undefined && !isWithin(following.branchId, following.seq)) continue;
    if (calls.length === limit) return { calls, next: row.location.seq };
    calls.push(row);
  }
  return { calls, next: null };
};

/** How many calls each branch of a history has, those without any left out; by branch. */
export const countByBranch = (
  rows: RowReader,
  history: string,
): readonly { readonly branchId: number; readonly calls: number }[] => {
  const counts = new Map<number, number>();
  for (const { branchId, attemptId, reassignedTo } of callsFrom(rows, history, 0)) {
    if (reassignedTo !== null) continue;
    const branch = positionFollowing(rows, history, attemptId)?.branchId ?? branchId;
    counts.set(branch, (counts.get(branch) ?? 0) + 1);
  }
  return [...counts]
    .map(([branchId, calls]) => ({ branchId, calls }))
    .sort((a, b) => a.branchId - b.branchId);
};

/** The calls of a history in the order they were recorded, read as they are wanted. */
function* callsFrom(rows: RowReader, history: string, from: number): Generator<CallRow> {
  for (let next = from; ;) {
    const page = listCallRows(rows, history, { from: next, limit: CHUNK });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < CHUNK) return;
    next = last.location.seq + 1;
  }
}
