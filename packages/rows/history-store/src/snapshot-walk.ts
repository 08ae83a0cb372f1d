import {
  compareSiblings,
  flattenRecords,
  type FixedRecords,
  type FlatTree,
  type NodeLocation,
  type NodeRecord,
  type TurnRecord,
} from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import { readAncestorPath } from './ancestor-path.ts';
import { openNodeReader } from './node-reader.ts';
import { readPosition } from './read-position.ts';

/** A snapshot that a walk visits: a position and its cycle. */
export type SnapshotPosition = { readonly branchId: number; readonly seq: number; readonly cycle: number };

/** The difference between two neighbouring snapshots. */
export type WalkStep = {
  /**
   * Every id that can differ between the two, in itself or in its ancestors: all others have the same headers, content
   * and ancestors in both. Null: every id may differ, and the trees are whole.
   */
  readonly ids: ReadonlySet<string> | null;
  /** The two trees with those ids and their ancestors. Depths of turns are not those of the whole. */
  readonly newer: FlatTree;
  readonly older: FlatTree;
};

/** A walk from a snapshot back into its past: it loads one position whole, and of every other one the changes. */
export type SnapshotWalk = {
  /** The whole tree at the current snapshot of the walk. */
  tree(): FlatTree;
  /** Reads the previous snapshot, given the ids that the frames between name. Does not move the walk. */
  readPrevious(rows: RowReader, to: SnapshotPosition, named: Iterable<string>): PreviousSnapshot;
  /** Moves the walk to a snapshot that `readPrevious` returned. */
  stepBack(previous: PreviousSnapshot): WalkStep;
};

/** The part of a previous snapshot that can differ, for the walk that read it. */
export type PreviousSnapshot = {
  readonly to: SnapshotPosition;
  readonly all: boolean;
  /** What may differ, and what it contains at the current snapshot. */
  readonly ids: ReadonlySet<string>;
  readonly found: ReadonlyMap<string, ReturnType<ReturnType<typeof openNodeReader>>>;
};

const locationKey = (location: NodeLocation): string =>
  location.kind === 'sys' ? 'sys' : `${location.cycle}/${location.ordinal}`;

/** A walk that begins at a snapshot. @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND */
export const openSnapshotWalk = (rows: RowReader, history: string, from: SnapshotPosition): SnapshotWalk => {
  const start = readPosition(rows, history, from.branchId, from.seq);
  let { fixed } = start;
  let current = from;
  const nodes = new Map<string, NodeRecord>();
  const turns = new Map<string, TurnRecord>();
  const turnByLocation = new Map<string, TurnRecord>();
  /** The ids directly in a container (by its id) or at a location (by its key). */
  const children = new Map<string, Set<string>>();
  /** Nodes whose `ttl` is another in every snapshot. */
  const ageing = new Set<string>();

  const parentKey = ({ parent, location }: NodeRecord): string =>
    parent === null ? `@${locationKey(location)}` : parent;
  const drop = (id: string): void => {
    const node = nodes.get(id);
    if (node !== undefined) children.get(parentKey(node))?.delete(id);
    const turn = turns.get(id);
    if (turn !== undefined) turnByLocation.delete(locationKey(turn.location));
    nodes.delete(id);
    turns.delete(id);
    ageing.delete(id);
  };
  const addNode = (record: NodeRecord): void => {
    const { id, ttl } = record.headers;
    nodes.set(id, record);
    const key = parentKey(record);
    const siblings = children.get(key);
    if (siblings === undefined) children.set(key, new Set([id]));
    else siblings.add(id);
    if (ttl !== null && record.expires !== null) ageing.add(id);
  };
  const addTurn = (record: TurnRecord): void => {
    turns.set(record.headers.id, record);
    turnByLocation.set(locationKey(record.location), record);
    if (record.headers.ttl !== null && record.expires !== null) ageing.add(record.headers.id);
  };
  for (const record of start.nodes) addNode(record);
  for (const record of start.turns) addTurn(record);

  /** Adds to a set everything that its nodes and turns contain. */
  const addContents = (ids: Set<string>): void => {
    // Iteration over a set also visits what is added during it.
    for (const id of ids) {
      const turn = turns.get(id);
      for (const child of children.get(turn === undefined ? id : `@${locationKey(turn.location)}`) ?? [])
        ids.add(child);
    }
  };
  const partialTree = (ids: ReadonlySet<string>): FlatTree => {
    const chosen = new Map<string, NodeRecord>();
    const within = new Map<string, TurnRecord>();
    for (const id of ids) {
      const own = turns.get(id);
      if (own !== undefined) within.set(id, own);
      for (let node = nodes.get(id); node !== undefined && !chosen.has(node.headers.id);) {
        chosen.set(node.headers.id, node);
        const turn = turnByLocation.get(locationKey(node.location));
        if (turn !== undefined) within.set(turn.headers.id, turn);
        node = node.parent === null ? undefined : nodes.get(node.parent);
      }
    }
    return flattenRecords({ cycle: current.cycle, fixed, turns: inOrder(within), nodes: chosen.values() });
  };
  const tree = (): FlatTree =>
    flattenRecords({ cycle: current.cycle, fixed, turns: inOrder(turns), nodes: nodes.values() });
  const isFixed = (id: string): boolean => Object.values(fixed).some(({ headers }) => headers.id === id);

  return {
    tree,
    readPrevious(view, to, named) {
      const ids = new Set(named);
      const all = [...ids].some(isFixed);
      for (const id of children.get(`@${locationKey({ kind: 'turn', cycle: current.cycle, ordinal: 0 })}`) ??
        [])
        ids.add(id);
      addContents(ids);
      const ancestorPath = readAncestorPath(view, history, to.branchId, to.seq);
      const read = openNodeReader(view, { history, ancestorPath, cycle: to.cycle });
      return { to, all, ids, found: new Map([...ids].map((id) => [id, read(id)])) };
    },
    stepBack({ to, all, ids: changed, found }) {
      const ids = new Set(changed);
      for (const id of ageing) ids.add(id);
      addContents(ids);
      const newer = all ? tree() : partialTree(ids);
      current = to;
      for (const [id, now] of found) {
        if (now?.kind === 'fixed') fixed = withFixed(fixed, id, now.record);
        else drop(id);
        if (now?.kind === 'node') addNode(now.record);
        if (now?.kind === 'turn') addTurn(now.record);
      }
      // Nodes that age only in the older snapshot, and the former content of what was removed since.
      for (const id of changed) if (ageing.has(id)) ids.add(id);
      addContents(ids);
      return { ids: all ? null : ids, newer, older: all ? tree() : partialTree(ids) };
    },
  };
};

const inOrder = (turns: ReadonlyMap<string, TurnRecord>): TurnRecord[] =>
  [...turns.values()].sort((a, b) => compareSiblings(a.headers, b.headers));

const withFixed = (fixed: FixedRecords, id: string, record: FixedRecords['root']): FixedRecords =>
  Object.fromEntries(
    Object.entries(fixed).map(([name, each]) => [name, each.headers.id === id ? record : each]),
  ) as FixedRecords;
