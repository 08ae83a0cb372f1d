import { compareSiblings, kindOfType, NODE_KIND, type EventRef, type Headers } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import { readChain, readStrand } from './chain.ts';
import {
  courseRows,
  SYS_PLACE,
  turnPlace,
  type CourseNode,
  type CourseRow,
  type CourseTurn,
} from './course-rows.ts';
import { listSnapshots, type SnapshotRow } from './list-snapshots.ts';

/** A block of the provider thread. The object is the same in every snapshot in which no row changed it. */
export type ThreadEntry = {
  readonly headers: Headers;
  readonly payload: EventRef;
  readonly inSys: boolean;
};

/** A stretch of the thread that changes together: what is under `^sys`, one turn, or the open head. */
export type ThreadSlice = readonly ThreadEntry[];

/** The step from one snapshot's thread to the next: the slices before `at` are the same in both. */
export type ThreadStep = {
  readonly snapshot: SnapshotRow;
  readonly at: number;
  /** The slices from `at` on, as they were in the snapshot before, and as they are. */
  readonly before: readonly ThreadSlice[];
  readonly after: readonly ThreadSlice[];
};

/**
 * The provider threads of all snapshots on the chain of a position, oldest first, as steps (context-tree §4): the rows of
 * the chain are read once, and a step costs what changed in it and the slices behind the first change, not the tree.
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export function* threadCourse(
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
): Generator<ThreadStep> {
  const course = openCourse(readStrand(rows, history, strand).thread === 'pre');
  const pending = courseRows(rows, history, readChain(rows, history, strand, seq));
  let next = 0;
  const slices: ThreadSlice[] = [];
  for (const snapshot of listSnapshots(rows, history, strand, seq, { first: 'oldest' })) {
    while (next < pending.length && (pending[next] as CourseRow).from <= snapshot.seq)
      course.take(pending[next++] as CourseRow);
    const { at, after } = course.close(snapshot.cycle);
    const before = slices.splice(at);
    yield { snapshot, at, before, after };
    for (const slice of after) slices.push(slice);
  }
}

type Nodes = Map<string, CourseNode>;

/** Turns and nodes as they are while rows are taken in one after the other. */
const openCourse = (pre: boolean) => {
  const { put, clear, expire: expireNode, nodesIn, touched } = openNodes();
  const turns = openTurns();
  const slices = new Map<string, ThreadSlice>();
  const entries = new WeakMap<CourseNode, ThreadEntry>();
  const due = new Map<number, (() => void)[]>();
  const expireAt = (cycle: number | null, expire: () => void): void => {
    if (cycle === null) return;
    const list = due.get(cycle);
    if (list === undefined) due.set(cycle, [expire]);
    else list.push(expire);
  };

  const take = (row: CourseRow): void => {
    if (row.what === 'sys') clear(SYS_PLACE);
    else if (row.what === 'node') {
      put(row.id, row.node);
      expireAt(row.node?.expires ?? null, () => expireNode(row.id, row.node));
    } else {
      turns.put(row.place, row.turn);
      expireAt(row.turn?.expires ?? null, () => turns.expire(row.turn));
    }
  };
  const sliceOf = (place: string): ThreadSlice => {
    const known = slices.get(place);
    if (known !== undefined) return known;
    const slice = sliceIn(nodesIn(place), pre && place !== SYS_PLACE, place === SYS_PLACE, entries);
    slices.set(place, slice);
    return slice;
  };
  let first = true;
  /** The thread as the snapshot of a cycle has it: how many slices stayed, and those behind them. */
  const close = (cycle: number): { readonly at: number; readonly after: readonly ThreadSlice[] } => {
    for (const expire of due.get(cycle) ?? []) expire();
    due.delete(cycle);
    for (const place of touched) slices.delete(place);
    const at = pre || first || touched.has(SYS_PLACE) ? 0 : 1 + turns.settle(touched);
    first = false;
    touched.clear();
    const behind = pre ? turns.from(-1) : [...turns.from(Math.max(0, at - 1)), turnPlace(cycle + 1, 0)];
    return { at, after: [...(at === 0 ? [SYS_PLACE] : []), ...behind].map(sliceOf) };
  };
  return { take, close };
};

/** Nodes by id and by place, and the places in which something changed. */
const openNodes = () => {
  const places = new Map<string, Nodes>();
  const where = new Map<string, CourseNode>();
  const touched = new Set<string>();
  const put = (id: string, node: CourseNode | null): void => {
    const old = where.get(id);
    if (old !== undefined) {
      places.get(old.place)?.delete(id);
      touched.add(old.place);
      where.delete(id);
    }
    if (node === null) return;
    where.set(id, node);
    touched.add(node.place);
    const nodes = places.get(node.place);
    if (nodes === undefined) places.set(node.place, new Map([[id, node]]));
    else nodes.set(id, node);
  };
  return {
    touched,
    put,
    nodesIn: (place: string): Nodes | undefined => places.get(place),
    clear: (place: string): void => {
      for (const id of [...(places.get(place)?.keys() ?? [])]) put(id, null);
    },
    /** A row says when it ends; one that took its place says otherwise. */
    expire: (id: string, node: CourseNode | null): void => {
      if (where.get(id) === node) put(id, null);
    },
  };
};

/** The sealed turns in canonical order, oldest first. */
const openTurns = () => {
  const turns: CourseTurn[] = [];
  const order = new Map<string, number>();
  /** Before this index `order` is right, and the turns are those of the last snapshot. */
  let same = 0;
  const drop = (index: number): void => {
    if (index === -1) return;
    order.delete((turns[index] as CourseTurn).place);
    turns.splice(index, 1);
    same = Math.min(same, index);
  };
  return {
    put: (place: string, turn: CourseTurn | null): void => {
      drop(turns.findLastIndex((one) => one.place === place));
      if (turn === null) return;
      const index = turns.findLastIndex((one) => compareSiblings(one.headers, turn.headers) < 0) + 1;
      turns.splice(index, 0, turn);
      same = Math.min(same, index);
    },
    expire: (turn: CourseTurn | null): void => drop(turns.findIndex((one) => one === turn)),
    /** The places of the turns from an index on; -1: that of the newest only. */
    from: (index: number): string[] => turns.slice(index).map(({ place }) => place),
    /** The first turn that is another, or in whose place something changed; from here on these are the ones compared with. */
    settle: (touched: ReadonlySet<string>): number => {
      let first = same;
      for (const place of touched) first = Math.min(first, order.get(place) ?? first);
      for (let i = same; i < turns.length; i++) order.set((turns[i] as CourseTurn).place, i);
      same = turns.length;
      return first;
    },
  };
};

/** The blocks of a place in canonical order; with `pre` only those of the pre-context. */
const sliceIn = (
  nodes: Nodes | undefined,
  pre: boolean,
  inSys: boolean,
  entries: WeakMap<CourseNode, ThreadEntry>,
): ThreadSlice => {
  if (nodes === undefined || nodes.size === 0) return [];
  const below = new Map<string | null, CourseNode[]>();
  for (const node of nodes.values()) {
    const siblings = below.get(node.parent);
    if (siblings === undefined) below.set(node.parent, [node]);
    else siblings.push(node);
  }
  const slice: ThreadEntry[] = [];
  const walk = (parent: string | null): void => {
    for (const node of (below.get(parent) ?? []).sort((a, b) => compareSiblings(a.headers, b.headers))) {
      if (pre && parent === null && node.headers.offset >= 0) continue;
      if (kindOfType(node.headers.nodeType) === NODE_KIND.block) slice.push(entryOf(node));
      else walk(node.headers.id);
    }
  };
  const entryOf = (node: CourseNode): ThreadEntry => {
    const known = entries.get(node) ?? { headers: node.headers, payload: node.payload, inSys };
    entries.set(node, known);
    return known;
  };
  walk(null);
  return slice;
};
