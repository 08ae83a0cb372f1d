import type { BranchPosition } from '@stemma/events';
import { readAncestorPath, type Segment } from '@stemma/history-store';
import { listFrameSummaries, type FrameSummary } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/** How two positions of a history lie to each other. */
export type MergeBase = {
  /** The newest position that lies on both ancestor paths. */
  readonly mergeBase: BranchPosition;
  readonly a: BranchSide;
  readonly b: BranchSide;
};

/** The part of an ancestor path after the merge base. */
export type BranchSide = {
  /** Its branches from the merge base on, each up to its limit; of the first only what comes after the merge base. */
  readonly segments: readonly Segment[];
  /** Its first frame after the merge base; null: the position is the merge base. */
  readonly first: number | null;
  /** True if that frame starts a branch: a fork or a rollback. */
  readonly startsBranch: boolean;
};

/**
 * The merge base of two positions of one history, where their ancestor paths part (context-tree §5). Both have the same
 * frames up to the merge base, and no frame in common after it.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const findMergeBase = (
  rows: RowReader,
  history: string,
  a: BranchPosition,
  b: BranchPosition,
): MergeBase => {
  const [pathA, pathB] = [readOwnSegments(rows, history, a), readOwnSegments(rows, history, b)];
  let sharedSegments = 0;
  while (equalSegments(pathA[sharedSegments], pathB[sharedSegments])) sharedSegments++;
  const [nextA, nextB] = [pathA[sharedSegments], pathB[sharedSegments]];
  // Either both continue in one branch, one further than the other, or at least one continues in a branch of its own.
  const sameBranch = nextA !== undefined && nextA.branchId === nextB?.branchId;
  const last = pathA[sharedSegments - 1] as Segment;
  const newestShared: BranchPosition = sameBranch
    ? { branchId: nextA.branchId, seq: Math.min(nextA.limit, nextB.limit) }
    : { branchId: last.branchId, seq: last.limit };
  const mergeBase = { branchId: newestShared.branchId, seq: newestOwnFrame(rows, history, newestShared) };
  return {
    mergeBase,
    a: branchSideOf(rows, history, mergeBase, pathA.slice(sharedSegments)),
    b: branchSideOf(rows, history, mergeBase, pathB.slice(sharedSegments)),
  };
};

const equalSegments = (a: Segment | undefined, b: Segment | undefined): boolean =>
  a !== undefined && b !== undefined && a.branchId === b.branchId && a.limit === b.limit;

/** The ancestor path without branches that add no frame: those left before they began. */
const readOwnSegments = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
): readonly Segment[] =>
  readAncestorPath(rows, history, branchId, seq).filter((segment) => segment.limit >= segment.branchId);

const branchSideOf = (
  rows: RowReader,
  history: string,
  mergeBase: BranchPosition,
  remaining: readonly Segment[],
): BranchSide => {
  const own = remaining[0];
  if (own === undefined) return { segments: [], first: null, startsBranch: false };
  if (own.branchId !== mergeBase.branchId)
    return { segments: remaining, first: own.branchId, startsBranch: true };
  const first = firstOwnFrameAfter(rows, history, own, mergeBase.seq);
  if (first !== null) return { segments: remaining, first, startsBranch: false };
  return branchSideOf(rows, history, { branchId: -1, seq: -1 }, remaining.slice(1));
};

/** Frames read at once: frames of other branches may lie between. */
const PAGE_SIZE = 64;

const firstOwnFrameAfter = (rows: RowReader, history: string, { branchId, limit }: Segment, seq: number) => {
  for (const frameSummary of frameSummariesBetween(rows, history, seq + 1, limit))
    if (frameSummary.branchId === branchId) return frameSummary.seq;
  return null;
};

/** The newest frame of a branch up to a limit: the branch's position there. */
const newestOwnFrame = (rows: RowReader, history: string, { branchId, seq }: BranchPosition): number => {
  for (let to = seq; to >= branchId; to -= PAGE_SIZE) {
    const from = Math.max(branchId, to - PAGE_SIZE + 1);
    const found = listFrameSummaries(rows, history, { from, limit: to - from + 1 }).findLast(
      (frameSummary) =>
        frameSummary.branchId === branchId && frameSummary.seq <= to && !frameSummary.observed,
    );
    if (found !== undefined) return found.seq;
  }
  return branchId;
};

/** The frames of a history from one to another, both inclusive, of all its branches. */
export const frameSummariesBetween = function* (
  rows: RowReader,
  history: string,
  from: number,
  to: number,
): Iterable<FrameSummary> {
  for (let next = from; next <= to;) {
    const page = listFrameSummaries(rows, history, {
      from: next,
      limit: Math.min(PAGE_SIZE * 16, to - next + 1),
    });
    for (const frameSummary of page) if (frameSummary.seq <= to) yield frameSummary;
    const last = page.at(-1);
    if (last === undefined) return;
    next = last.seq + 1;
  }
};
