import { positionOfFrame, readAncestorPath, type Position, type Segment } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { findMergeBase, type MergeBase } from '../merge-base.ts';
import { snapshotsOfSides, type SideSnapshots } from './compare-cycles.ts';
import { countSideFrames, divergedBy, type SideFrames } from './compare-frames.ts';
import type { Comparison } from './types.ts';

/** What the rows say of the two sides. */
export type Sides = {
  readonly relation: Comparison['relation'];
  readonly mergeBase: Position | null;
  readonly divergedBy: Comparison['divergedBy'];
  readonly framesA: SideFrames;
  readonly framesB: SideFrames;
  readonly pathA: readonly Segment[];
  readonly pathB: readonly Segment[];
  readonly snapshots: SideSnapshots;
};

/** How two positions lie to each other. */
export const sidesOf = (rows: RowReader, a: Position, b: Position): Sides =>
  a.history === b.history ? inOneHistory(rows, a, b) : apart(rows, a, b);

const pathOf = (rows: RowReader, { history, branchId, seq }: Position): readonly Segment[] =>
  readAncestorPath(rows, history, branchId, seq);

const inOneHistory = (rows: RowReader, a: Position, b: Position): Sides => {
  const { history } = a;
  const divergence = findMergeBase(rows, history, a, b);
  const mergeBase = positionOfFrame(rows, history, divergence.mergeBase.branchId, divergence.mergeBase.seq);
  return {
    mergeBase,
    relation: relationOf(divergence),
    framesA: countSideFrames(rows, history, mergeBase.seq, divergence.a),
    framesB: countSideFrames(rows, history, mergeBase.seq, divergence.b),
    pathA: pathOf(rows, a),
    pathB: pathOf(rows, b),
    divergedBy: divergedBy(rows, history, divergence),
    snapshots: snapshotsOfSides(rows, mergeBase, a, b),
  };
};

const apart = (rows: RowReader, a: Position, b: Position): Sides => {
  const [pathA, pathB] = [pathOf(rows, a), pathOf(rows, b)];
  const frames = ({ history }: Position, segments: readonly Segment[]): SideFrames =>
    countSideFrames(rows, history, -1, { segments, first: 0, startsBranch: true });
  return {
    mergeBase: null,
    relation: 'apart',
    framesA: frames(a, pathA),
    framesB: frames(b, pathB),
    pathA,
    pathB,
    divergedBy: null,
    snapshots: snapshotsOfSides(rows, null, a, b),
  };
};

const relationOf = ({ a, b }: MergeBase): Comparison['relation'] => {
  if (a.first === null) return b.first === null ? 'same' : 'a-before-b';
  return b.first === null ? 'b-before-a' : 'diverged';
};
