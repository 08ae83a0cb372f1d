import { flattenRecords, type FlatTree, type NodeRecord, type TurnRecord } from '@stemma/context-tree';
import type { BranchPosition } from '@stemma/events';
import {
  findSnapshot,
  findTurn,
  openNodeReader,
  readPositionMeta,
  readSegments,
  type AncestryScope,
  type Segment,
} from '@stemma/history-store';
import { listRows, type RowReader } from '@stemma/row-store';
import { commonAncestry, readAncestryView, type AncestryView } from './ancestry-view.ts';
import { CHANGED_NODES, DUE } from './tables.ts';

/**
 * The nodes of two positions that can differ, and their ancestors: restricted to `ids`, their diff is that of
 * the whole trees.
 */
export type DiffCandidates = {
  /** Every id that can be in the diff: others are the same in both, or in neither. */
  readonly ids: ReadonlySet<string>;
  /** Depths of turns differ from those in the whole trees. */
  readonly older: FlatTree;
  readonly newer: FlatTree;
};

/**
 * What is known of two positions without rows of this read model: frames between them say what they did, and the history store
 * what may grow older. Both may name more than what differs.
 */
export type ReadChanges = {
  /** The nodes that the frames after the common position named, up to either position. */
  readonly named: Iterable<string>;
  /** The nodes of the common position that end with a cycle. */
  readonly expiring: Iterable<string>;
};

/** More ids are never looked at one by one. */
const MAX_IDS = 4_096;
/** Nor more than one in this many of all nodes: reading one node alone takes that much longer than within a range. */
const NODES_PER_ID = 8;
/** But always this many. */
const MIN_IDS = 16;

/**
 * The nodes that can differ between two positions of a history, found from the nodes that frames between them changed, that a commit
 * between them sealed, and that age: no tree is read. Undefined if there are so many that reading both trees
 * is faster.
 *
 * @param maxIds look at no more ids than this; by default as many as are faster than both trees.
 * @param changes what the caller has read, instead of the rows of this read model
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readDiffCandidates = (
  rows: RowReader,
  history: string,
  { a, b }: Ends,
  { maxIds, changes }: { readonly maxIds?: number; readonly changes?: ReadChanges | undefined } = {},
): DiffCandidates | undefined => {
  const [from, to] = viewsOf(rows, history, { a, b });
  const ids = idsBetweenViews(rows, from, to, maxIds ?? idLimit(rows, history, b, to.cycle), changes);
  if (ids === undefined) return undefined;
  return { ids, older: readWithAncestors(rows, from, ids), newer: readWithAncestors(rows, to, ids) };
};

const idLimit = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
  cycle: number,
): number => {
  const nodes = findSnapshot(rows, history, branchId, seq, cycle)?.nodes ?? 0;
  return Math.min(MAX_IDS, Math.max(MIN_IDS, Math.floor(nodes / NODES_PER_ID)));
};

/** Two positions of one history. */
export type Ends = { readonly a: BranchPosition; readonly b: BranchPosition };

const viewsOf = (rows: RowReader, history: string, { a, b }: Ends): readonly [AncestryView, AncestryView] => [
  readAncestryView(rows, history, a.branchId, a.seq),
  readAncestryView(rows, history, b.branchId, b.seq),
];

/**
 * The ids of the nodes that can differ between two positions of a history; undefined if there are more than `maxIds`.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const differingIds = (
  rows: RowReader,
  history: string,
  ends: Ends,
  maxIds: number,
  changes: ReadChanges | undefined,
): ReadonlySet<string> | undefined => idsBetweenViews(rows, ...viewsOf(rows, history, ends), maxIds, changes);

/** Frames of a branch, both ends inclusive. */
export type BranchFrames = { readonly branchId: number; readonly from: number; readonly to: number };

/**
 * The last position that two have in common, and the frames between it and either: what differs was done by these, follows from a
 * commit among them, or grows older.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readFramesApart = (
  rows: RowReader,
  history: string,
  ends: Ends,
): { readonly mergeBase: BranchPosition; readonly frames: readonly BranchFrames[] } => {
  const [from, to] = viewsOf(rows, history, ends);
  const common = commonAncestry(rows, from, to);
  const { branchId, limit } = common.mergeBase;
  return { mergeBase: { branchId, seq: limit }, frames: framesApart(common, from, to) };
};

const framesApart = (
  { ancestorPath: shared }: AncestryView,
  ...sides: readonly AncestryView[]
): readonly BranchFrames[] =>
  sides.flatMap(({ ancestorPath }) =>
    ancestorPath.flatMap(({ branchId, limit }) => {
      const until = shared.find((segment) => segment.branchId === branchId)?.limit ?? -1;
      return until >= limit ? [] : [{ branchId, from: until + 1, to: limit }];
    }),
  );

const idsBetweenViews = (
  rows: RowReader,
  from: AncestryView,
  to: AncestryView,
  maxIds: number,
  changes: ReadChanges | undefined,
): ReadonlySet<string> | undefined => {
  const mergeBase = commonAncestry(rows, from, to);
  const changed = changes?.named ?? changedIds(rows, from.history, framesApart(mergeBase, from, to), maxIds);
  if (changed === undefined) return undefined;
  const ids = new Set(changed);
  if (ids.size > maxIds) return undefined;
  if (from.cycle === mergeBase.cycle && to.cycle === mergeBase.cycle) return ids;
  for (const id of idsInHead(rows, mergeBase)) ids.add(id);
  const ageing = changes?.expiring ?? ageingIds(rows, mergeBase, Math.max(from.cycle, to.cycle), maxIds);
  if (ageing === undefined) return undefined;
  for (const id of ageing) ids.add(id);
  return ids.size > maxIds ? undefined : ids;
};

/** The nodes that frames changed; undefined if there are more than `maxIds`. */
const changedIds = (
  rows: RowReader,
  history: string,
  frames: readonly BranchFrames[],
  maxIds: number,
): ReadonlySet<string> | undefined => {
  const ids = new Set<string>();
  for (const { branchId, from, to } of frames) {
    const found = rows.range(CHANGED_NODES, { prefix: [history, branchId], from, to, limit: maxIds + 1 });
    if (found.length > maxIds) return undefined;
    for (const { value } of found) for (const id of value[0] as readonly string[]) ids.add(id);
    if (ids.size > maxIds) return undefined;
  }
  return ids;
};

/** The nodes directly in the head: the next commit moves them under a turn. Nodes of later heads are in changed frames. */
const idsInHead = (
  rows: RowReader,
  { history, ancestorPath, cycle, mergeBase }: AncestryView & { readonly mergeBase: Segment },
): readonly string[] => {
  const { meta } = readPositionMeta(rows, history, mergeBase.branchId, mergeBase.limit);
  const locations = [[cycle + 1, cycle + 1]] as const;
  const { nodes } = readSegments(rows, history, ancestorPath, meta, { sys: false, locations, turns: [] });
  return [...nodes].flatMap(({ headers, parent }) => (parent === null ? [headers.id] : []));
};

/**
 * What was there at the common position, ends with a cycle behind `cycle`, and so may show another `ttl` until then.
 */
const ageingIds = (
  rows: RowReader,
  { history, ancestorPath }: AncestryView,
  cycle: number,
  maxIds: number,
): readonly string[] | undefined => {
  const ids: string[] = [];
  for (const { branchId, limit } of ancestorPath) {
    const bounds = { from: cycle + 1, limit: maxIds + 1 };
    const expiring = listRows(rows, DUE, { history, branch_id: branchId }, bounds);
    if (expiring.length > maxIds) return undefined;
    for (const { seq, node } of expiring) if (seq <= limit) ids.push(node);
  }
  return ids;
};

/** Nodes of a position with their ancestors. */
const readWithAncestors = (rows: RowReader, ancestry: AncestryView, ids: ReadonlySet<string>): FlatTree => {
  const { history, ancestorPath, cycle } = ancestry;
  const scope: AncestryScope = { history, ancestorPath, cycle };
  const read = openNodeReader(rows, scope);
  const nodes = new Map<string, NodeRecord>();
  const turns = new Map<string, TurnRecord>();
  const locations = new Set<string>();
  for (const id of ids)
    for (let next: string | null = id; next !== null && !nodes.has(next);) {
      const found = read(next);
      if (found?.kind === 'turn') turns.set(next, found.record);
      if (found?.kind !== 'node') break;
      const { location, parent } = found.record;
      nodes.set(next, found.record);
      next = parent;
      if (location.kind === 'sys' || locations.has(`${location.cycle}/${location.ordinal}`)) continue;
      locations.add(`${location.cycle}/${location.ordinal}`);
      const turn = findTurn(rows, scope, location);
      if (turn !== undefined) turns.set(turn.headers.id, turn);
    }
  const { meta } = readPositionMeta(
    rows,
    history,
    ancestorPath.at(-1)?.branchId ?? 0,
    ancestorPath.at(-1)?.limit ?? 0,
  );
  const { fixed } = readSegments(rows, history, ancestorPath, meta, { sys: false, locations: [], turns: [] });
  return flattenRecords({ cycle, fixed, turns: turns.values(), nodes: nodes.values() });
};
