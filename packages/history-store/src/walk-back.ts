import {
  compareSiblings,
  flattenRecords,
  type FixedRecords,
  type FlatTree,
  type NodeRecord,
  type Place,
  type TurnRecord,
} from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import { readChain } from './chain.ts';
import { nodeReader } from './node-reader.ts';
import { readPosition } from './read-position.ts';

/** A snapshot on the way: a position and its cycle. */
export type WalkStop = { readonly strand: number; readonly seq: number; readonly cycle: number };

/** Two neighbouring snapshots, as far as they differ. */
export type WalkStep = {
  /**
   * Every id that can differ between the two, in itself or in what it lies in: others have the same headers, content and
   * ancestors in both. Null: any may, and the trees are whole.
   */
  readonly ids: ReadonlySet<string> | null;
  /** The two with those ids and what they lie in. Depths of turns are not those of the whole. */
  readonly newer: FlatTree;
  readonly older: FlatTree;
};

/** A walk from a snapshot into its past that loads one position whole and of every other what changed. */
export type Walk = {
  /** The whole tree where the walk stands. */
  tree(): FlatTree;
  /** Reads what the snapshot before has, given the ids that the frames between name. Changes nothing. */
  look(rows: RowReader, to: WalkStop, named: Iterable<string>): Looked;
  /** Goes to what was looked at last. */
  back(looked: Looked): WalkStep;
};

/** What a snapshot has of what can have changed, for the walk that looked. */
export type Looked = {
  readonly to: WalkStop;
  readonly all: boolean;
  /** What may differ, and what lies in it where the walk stands. */
  readonly ids: ReadonlySet<string>;
  readonly found: ReadonlyMap<string, ReturnType<ReturnType<typeof nodeReader>>>;
};

const keyOf = (place: Place): string => (place.kind === 'sys' ? 'sys' : `${place.cycle}/${place.ordinal}`);

/** @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND */
export const walkBack = (rows: RowReader, history: string, from: WalkStop): Walk => {
  const start = readPosition(rows, history, from.strand, from.seq);
  let { fixed } = start;
  let at = from;
  const nodes = new Map<string, NodeRecord>();
  const turns = new Map<string, TurnRecord>();
  const turnAt = new Map<string, TurnRecord>();
  /** What lies directly in a container (by its id) or in a place (by its key). */
  const kids = new Map<string, Set<string>>();
  /** What shows another `ttl` in every snapshot. */
  const ageing = new Set<string>();

  const familyOf = ({ parent, place }: NodeRecord): string => (parent === null ? `@${keyOf(place)}` : parent);
  const drop = (id: string): void => {
    const node = nodes.get(id);
    if (node !== undefined) kids.get(familyOf(node))?.delete(id);
    const turn = turns.get(id);
    if (turn !== undefined) turnAt.delete(keyOf(turn.place));
    nodes.delete(id);
    turns.delete(id);
    ageing.delete(id);
  };
  const addNode = (record: NodeRecord): void => {
    const { id, ttl } = record.headers;
    nodes.set(id, record);
    const family = familyOf(record);
    const siblings = kids.get(family);
    if (siblings === undefined) kids.set(family, new Set([id]));
    else siblings.add(id);
    if (ttl !== null && record.expires !== null) ageing.add(id);
  };
  const addTurn = (record: TurnRecord): void => {
    turns.set(record.headers.id, record);
    turnAt.set(keyOf(record.place), record);
    if (record.headers.ttl !== null && record.expires !== null) ageing.add(record.headers.id);
  };
  for (const record of start.nodes) addNode(record);
  for (const record of start.turns) addTurn(record);

  /** Adds all that lies in nodes and turns of a set to it. */
  const addContents = (ids: Set<string>): void => {
    // A set that is added to while it is gone through is gone through to its new end.
    for (const id of ids) {
      const turn = turns.get(id);
      for (const kid of kids.get(turn === undefined ? id : `@${keyOf(turn.place)}`) ?? []) ids.add(kid);
    }
  };
  const part = (ids: ReadonlySet<string>): FlatTree => {
    const chosen = new Map<string, NodeRecord>();
    const within = new Map<string, TurnRecord>();
    for (const id of ids) {
      const own = turns.get(id);
      if (own !== undefined) within.set(id, own);
      for (let node = nodes.get(id); node !== undefined && !chosen.has(node.headers.id);) {
        chosen.set(node.headers.id, node);
        const turn = turnAt.get(keyOf(node.place));
        if (turn !== undefined) within.set(turn.headers.id, turn);
        node = node.parent === null ? undefined : nodes.get(node.parent);
      }
    }
    return flattenRecords({ cycle: at.cycle, fixed, turns: inOrder(within), nodes: chosen.values() });
  };
  const tree = (): FlatTree =>
    flattenRecords({ cycle: at.cycle, fixed, turns: inOrder(turns), nodes: nodes.values() });
  const isFixed = (id: string): boolean => Object.values(fixed).some(({ headers }) => headers.id === id);

  return {
    tree,
    look(view, to, named) {
      const ids = new Set(named);
      const all = [...ids].some(isFixed);
      for (const id of kids.get(`@${keyOf({ kind: 'turn', cycle: at.cycle, ordinal: 0 })}`) ?? [])
        ids.add(id);
      addContents(ids);
      const chain = readChain(view, history, to.strand, to.seq);
      const read = nodeReader(view, { history, chain, cycle: to.cycle });
      return { to, all, ids, found: new Map([...ids].map((id) => [id, read(id)])) };
    },
    back({ to, all, ids: changed, found }) {
      const ids = new Set(changed);
      for (const id of ageing) ids.add(id);
      addContents(ids);
      const newer = all ? tree() : part(ids);
      at = to;
      for (const [id, now] of found) {
        if (now?.kind === 'fixed') fixed = withFixed(fixed, id, now.record);
        else drop(id);
        if (now?.kind === 'node') addNode(now.record);
        if (now?.kind === 'turn') addTurn(now.record);
      }
      // What ages only in the older one, and what lay in what was taken out since.
      for (const id of changed) if (ageing.has(id)) ids.add(id);
      addContents(ids);
      return { ids: all ? null : ids, newer, older: all ? tree() : part(ids) };
    },
  };
};

const inOrder = (turns: ReadonlyMap<string, TurnRecord>): TurnRecord[] =>
  [...turns.values()].sort((a, b) => compareSiblings(a.headers, b.headers));

const withFixed = (fixed: FixedRecords, id: string, record: FixedRecords['root']): FixedRecords =>
  Object.fromEntries(
    Object.entries(fixed).map(([name, each]) => [name, each.headers.id === id ? record : each]),
  ) as FixedRecords;
