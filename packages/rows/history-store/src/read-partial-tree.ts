import { compareSiblings, flattenRecords, type FlatTree, type TurnRecord } from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import { listRows, type RowReader } from '@stemma/row-store';
import { readAncestorPath, type Segment } from './ancestor-path.ts';
import { readPositionMeta, type PositionMeta } from './position-meta.ts';
import { readNode } from './read-node.ts';
import { readSegments, readTurns } from './read-position.ts';
import { SNAPSHOTS } from './tables.ts';

/** The nodes of a position to read: those at these depths, and everything that shares a location with these ids. */
export type PartialTreeQuery = {
  readonly minDepth: number;
  readonly maxDepth: number;
  readonly ids: readonly string[];
};

export type CycleRanges = readonly (readonly [from: number, to: number])[];

/**
 * A part of the tree at a position, laid flat: root and regions, and of the rest what the query asks for; depths are
 * those of the whole. Reads only the rows of that part, and of a few turns more where some were removed.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readPartialTree = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
  { minDepth, maxDepth, ids }: PartialTreeQuery,
): FlatTree => {
  const ancestorPath = readAncestorPath(rows, history, branchId, seq);
  const { meta } = readPositionMeta(rows, history, branchId, seq);
  const turns = maxDepth < 1 ? [] : newestTurns(rows, history, ancestorPath, meta, maxDepth);
  const within = turns.slice(Math.max(0, turns.length - maxDepth), turns.length - Math.max(1, minDepth) + 1);
  const namedLocations = ids.map((id) => locationOf(rows, history, branchId, seq, id));
  const ranges: CycleRanges = [
    ...within.map(({ location }) => [location.cycle, location.cycle] as const),
    ...(minDepth <= 0 && maxDepth >= 0 ? [[meta.cycle + 1, meta.cycle + 1] as const] : []),
    ...namedLocations.flatMap((location) =>
      typeof location === 'number' ? [[location, location] as const] : [],
    ),
  ];
  const merged = mergeRanges(ranges);
  const records = readSegments(rows, history, ancestorPath, meta, {
    sys: (minDepth <= -1 && maxDepth >= -1) || namedLocations.includes('sys'),
    locations: merged,
    turns: merged.map(([from, to]) => [from, Math.min(to, meta.cycle)] as const),
  });
  const read = [...records.turns];
  const known = new Set(read.map(({ headers }) => headers.id));
  const allTurns = [...read, ...turns.filter(({ headers }) => !known.has(headers.id))];
  // A turn of the same cycle as one asked for may not be one of the newest: kept, it would count as one.
  const counted = new Set(turns.map(({ headers }) => headers.id));
  const kept = ids.length > 0 ? allTurns : allTurns.filter(({ headers }) => counted.has(headers.id));
  const isKept = new Set(kept.map(({ location }) => `${location.cycle}/${location.ordinal}`));
  const head = meta.cycle + 1;
  const nodes = [...records.nodes].filter(
    ({ location }) =>
      location.kind === 'sys' ||
      location.cycle === head ||
      isKept.has(`${location.cycle}/${location.ordinal}`),
  );
  return flattenRecords({ ...records, turns: kept, nodes });
};

/** Which locations of a position: those of these cycles, the head being that of the cycle after the newest, and `^sys` or not. */
export type LocationRange = { readonly sys: boolean; readonly from: number; readonly to: number };

/**
 * A tree of the locations of a position between two cycles. Turns of other cycles are not in it, so depths are not those of the
 * whole. Beside it the oldest location that the position has, and that of the head.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readLocations = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
  range: LocationRange,
): { readonly tree: FlatTree; readonly oldest: number; readonly head: number } => {
  const path = readAncestorPath(rows, history, branchId, seq);
  const { meta } = readPositionMeta(rows, history, branchId, seq);
  const head = meta.cycle + 1;
  const oldest = Math.min(meta.oldestTurn, meta.oldestLive, ...meta.olderLive);
  const [from, to] = [Math.max(range.from, oldest), Math.min(range.to, head)];
  const locations = from <= to ? [[from, to] as const] : [];
  const turns = from <= Math.min(to, meta.cycle) ? [[from, Math.min(to, meta.cycle)] as const] : [];
  const records = readSegments(rows, history, path, meta, { sys: range.sys, locations, turns });
  const living = new Set([...records.turns].map(({ location }) => `${location.cycle}/${location.ordinal}`));
  const nodes = [...records.nodes].filter(
    ({ location }) =>
      location.kind === 'sys' ||
      location.cycle === head ||
      living.has(`${location.cycle}/${location.ordinal}`),
  );
  return { tree: flattenRecords({ ...records, nodes }), oldest, head };
};

/** The location of a living node: a cycle, or `^sys`; null for fixed nodes and those the position does not have. */
export const locationOf = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
  id: string,
): number | 'sys' | null => {
  const found = readNode(rows, history, branchId, seq, id);
  if (found === undefined || found.kind === 'fixed') return null;
  return found.record.location.kind === 'sys' ? 'sys' : found.record.location.cycle;
};

/** At least the `most` newest turns, oldest first. */
const newestTurns = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  meta: PositionMeta,
  count: number,
): readonly TurnRecord[] => {
  const importedLast = turnsImportedLast(rows, history, ancestorPath, meta);
  for (let span = count; ; span *= 2) {
    const first = Math.max(meta.oldestTurn, meta.cycle - span + 1);
    const found = readTurns(rows, history, ancestorPath, meta.cycle, first, meta.cycle);
    const complete = first === meta.oldestTurn;
    if (!complete && found.length + importedLast.length < count) continue;
    const beside = importedLast.filter(({ location }) => location.cycle < first);
    return [...found, ...beside].sort((a, b) => compareSiblings(a.headers, b.headers));
  }
};

/** Whether turns come last in the thread that are older than others: those that an import brought with an offset above 0. */
export const hasTurnsImportedLast = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): boolean =>
  turnsImportedLast(
    rows,
    history,
    readAncestorPath(rows, history, branchId, seq),
    readPositionMeta(rows, history, branchId, seq).meta,
  ).length > 0;

/** Turns that an import brought with an offset above 0: they come after all that were sealed since. */
const turnsImportedLast = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  meta: PositionMeta,
): readonly TurnRecord[] => {
  const [first] = listRows(rows, SNAPSHOTS, { history, branch_id: 0 }, { limit: 1 });
  if (first?.seq !== 0) return [];
  const { cycle } = first;
  return readTurns(rows, history, ancestorPath, meta.cycle, cycle, cycle).filter(
    ({ headers }) => headers.offset > 0,
  );
};

/** The same cycles as ascending ranges that do not overlap. */
export const mergeRanges = (ranges: CycleRanges): CycleRanges => {
  const merged: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
};
