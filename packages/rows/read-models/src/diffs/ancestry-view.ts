import {
  findSnapshotOn,
  readAncestorPath,
  readPositionMeta,
  sealedTurn,
  type Segment,
} from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';

/** The ancestor path of a position, and the newest cycle on it. */
export type AncestryView = {
  readonly history: string;
  /** Root first. */
  readonly ancestorPath: readonly Segment[];
  readonly cycle: number;
  /** True if a frame lies on the ancestor path. */
  readonly includes: (branchId: number, seq: number) => boolean;
};

/** @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND */
export const readAncestryView = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): AncestryView =>
  ancestryViewOf(
    history,
    readAncestorPath(rows, history, branchId, seq),
    readPositionMeta(rows, history, branchId, seq).meta.cycle,
  );

const ancestryViewOf = (history: string, ancestorPath: readonly Segment[], cycle: number): AncestryView => {
  const limits = new Map(ancestorPath.map((segment) => [segment.branchId, segment.limit]));
  return { history, ancestorPath, cycle, includes: (branchId, seq) => seq <= (limits.get(branchId) ?? -1) };
};

/** The last position that both have in common. */
export const commonAncestry = (
  rows: RowReader,
  a: AncestryView,
  b: AncestryView,
): AncestryView & { readonly mergeBase: Segment } => {
  const limits = new Map(b.ancestorPath.map((segment) => [segment.branchId, segment.limit]));
  const shared = a.ancestorPath.flatMap(({ branchId, limit }) => {
    const other = limits.get(branchId);
    return other === undefined ? [] : [{ branchId, limit: Math.min(limit, other) }];
  });
  // A branch that starts after the position has no frames of its own here.
  const mergeBase = shared.findLast(({ branchId, limit }) => limit >= branchId) ?? { branchId: 0, limit: 0 };
  const { cycle } = readPositionMeta(rows, a.history, mergeBase.branchId, mergeBase.limit).meta;
  return { ...ancestryViewOf(a.history, shared, cycle), mergeBase };
};

/** The frame that ended a cycle. */
export type CycleRow = {
  readonly branchId: number;
  readonly cycle: number;
  readonly seq: number;
  /** The event that is its snapshot. */
  readonly index: number;
  /** The turn that the head became, and the event that did it. */
  readonly turn: { readonly id: string; readonly index: number } | null;
  readonly imported: boolean;
};

/** The frame on the ancestor path that ended a cycle; undefined if none did. @throws E_ROWS_DAMAGED */
export const findCycle = (rows: RowReader, ancestry: AncestryView, cycle: number): CycleRow | undefined => {
  const snapshot = findSnapshotOn(rows, ancestry, cycle);
  if (snapshot === undefined) return undefined;
  const { branchId, seq, index, imported } = snapshot;
  return { branchId, cycle, seq, index, turn: sealedTurn(rows, ancestry.history, snapshot), imported };
};
