import { compareSiblings, kindOfType, NODE_KIND, type EventRef, type Headers } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import { readAncestorPath, readBranch } from './ancestor-path.ts';
import { listSnapshots, type SnapshotRow } from './list-snapshots.ts';
import {
  readThreadTimelineRows,
  SYS_LOCATION,
  turnLocation,
  type ThreadNode,
  type ThreadTimelineRow,
  type ThreadTurn,
} from './thread-timeline-rows.ts';

/** A block of the provider thread. The object is the same in every snapshot in which no row changed it. */
export type ThreadEntry = {
  readonly headers: Headers;
  readonly payload: EventRef;
  readonly inSys: boolean;
};

/** A slice of the thread that changes together: what is under `^sys`, one turn, or the open head. */
export type ThreadSlice = readonly ThreadEntry[];

/** The step from one snapshot's thread to the next: the slices before `firstChanged` are the same in both. */
export type ThreadStep = {
  readonly snapshot: SnapshotRow;
  readonly firstChanged: number;
  /** The slices from `firstChanged` on, in the previous snapshot and in this one. */
  readonly before: readonly ThreadSlice[];
  readonly after: readonly ThreadSlice[];
};

/**
 * The provider threads of all snapshots on the ancestor path of a position, oldest first, as steps (context-tree §4).
 * The rows of the path are read once; a step costs what changed in it and the slices after the first change, not the
 * tree.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export function* readThreadTimeline(
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): Generator<ThreadStep> {
  const threadState = openThreadState(readBranch(rows, history, branchId).thread === 'pre');
  const pending = readThreadTimelineRows(rows, history, readAncestorPath(rows, history, branchId, seq));
  let next = 0;
  const slices: ThreadSlice[] = [];
  for (const snapshot of listSnapshots(rows, history, branchId, seq, { first: 'oldest' })) {
    while (next < pending.length && (pending[next] as ThreadTimelineRow).from <= snapshot.seq)
      threadState.take(pending[next++] as ThreadTimelineRow);
    const { firstChanged, after } = threadState.close(snapshot.cycle);
    const before = slices.splice(firstChanged);
    yield { snapshot, firstChanged, before, after };
    for (const slice of after) slices.push(slice);
  }
}

type Nodes = Map<string, ThreadNode>;

/** The turns and nodes after the rows applied so far. */
const openThreadState = (pre: boolean) => {
  const { put, clear, expire: expireNode, nodesIn, changedLocations } = openThreadNodes();
  const turns = openThreadTurns();
  const slices = new Map<string, ThreadSlice>();
  const entries = new WeakMap<ThreadNode, ThreadEntry>();
  const expiring = new Map<number, (() => void)[]>();
  const expireAt = (cycle: number | null, expire: () => void): void => {
    if (cycle === null) return;
    const list = expiring.get(cycle);
    if (list === undefined) expiring.set(cycle, [expire]);
    else list.push(expire);
  };

  const applyRow = (row: ThreadTimelineRow): void => {
    if (row.what === 'sys') clear(SYS_LOCATION);
    else if (row.what === 'node') {
      put(row.id, row.node);
      expireAt(row.node?.expires ?? null, () => expireNode(row.id, row.node));
    } else {
      turns.put(row.location, row.turn);
      expireAt(row.turn?.expires ?? null, () => turns.expire(row.turn));
    }
  };
  const sliceOf = (location: string): ThreadSlice => {
    const known = slices.get(location);
    if (known !== undefined) return known;
    const slice = sliceIn(
      nodesIn(location),
      pre && location !== SYS_LOCATION,
      location === SYS_LOCATION,
      entries,
    );
    slices.set(location, slice);
    return slice;
  };
  let first = true;
  /** The thread in the snapshot of a cycle: the number of unchanged slices, and those after them. */
  const atSnapshot = (
    cycle: number,
  ): { readonly firstChanged: number; readonly after: readonly ThreadSlice[] } => {
    for (const expire of expiring.get(cycle) ?? []) expire();
    expiring.delete(cycle);
    for (const location of changedLocations) slices.delete(location);
    const firstChanged =
      pre || first || changedLocations.has(SYS_LOCATION) ? 0 : 1 + turns.firstChangedTurn(changedLocations);
    first = false;
    changedLocations.clear();
    const following = pre
      ? turns.from(-1)
      : [...turns.from(Math.max(0, firstChanged - 1)), turnLocation(cycle + 1, 0)];
    return {
      firstChanged,
      after: [...(firstChanged === 0 ? [SYS_LOCATION] : []), ...following].map(sliceOf),
    };
  };
  return { take: applyRow, close: atSnapshot };
};

/** Nodes by id and by location, and the locations in which something changed. */
const openThreadNodes = () => {
  const nodesByLocation = new Map<string, Nodes>();
  const nodesById = new Map<string, ThreadNode>();
  const changedLocations = new Set<string>();
  const put = (id: string, node: ThreadNode | null): void => {
    const old = nodesById.get(id);
    if (old !== undefined) {
      nodesByLocation.get(old.location)?.delete(id);
      changedLocations.add(old.location);
      nodesById.delete(id);
    }
    if (node === null) return;
    nodesById.set(id, node);
    changedLocations.add(node.location);
    const nodes = nodesByLocation.get(node.location);
    if (nodes === undefined) nodesByLocation.set(node.location, new Map([[id, node]]));
    else nodes.set(id, node);
  };
  return {
    changedLocations,
    put,
    nodesIn: (location: string): Nodes | undefined => nodesByLocation.get(location),
    clear: (location: string): void => {
      for (const id of [...(nodesByLocation.get(location)?.keys() ?? [])]) put(id, null);
    },
    /** Expires a node, unless a later row has replaced the one that said so. */
    expire: (id: string, node: ThreadNode | null): void => {
      if (nodesById.get(id) === node) put(id, null);
    },
  };
};

/** The sealed turns in canonical order, oldest first. */
const openThreadTurns = () => {
  const turns: ThreadTurn[] = [];
  const order = new Map<string, number>();
  /** Where turns are: most that come are new, and are not looked for. */
  const present = new Set<string>();
  /** Before this index `order` is right, and the turns are those of the last snapshot. */
  let unchanged = 0;
  const drop = (index: number): void => {
    if (index === -1) return;
    const { location } = turns[index] as ThreadTurn;
    order.delete(location);
    present.delete(location);
    turns.splice(index, 1);
    unchanged = Math.min(unchanged, index);
  };
  return {
    put: (location: string, turn: ThreadTurn | null): void => {
      if (present.has(location)) drop(turns.findLastIndex((one) => one.location === location));
      if (turn === null) return;
      present.add(location);
      const index = turns.findLastIndex((one) => compareSiblings(one.headers, turn.headers) < 0) + 1;
      turns.splice(index, 0, turn);
      unchanged = Math.min(unchanged, index);
    },
    expire: (turn: ThreadTurn | null): void => drop(turns.findIndex((one) => one === turn)),
    /** The locations of the turns from an index on; -1: that of the newest only. */
    from: (index: number): string[] => turns.slice(index).map(({ location }) => location),
    /** The first turn that is new or has changed content; the next call compares with the turns of now. */
    firstChangedTurn: (changedLocations: ReadonlySet<string>): number => {
      let first = unchanged;
      for (const location of changedLocations) first = Math.min(first, order.get(location) ?? first);
      for (let i = unchanged; i < turns.length; i++) order.set((turns[i] as ThreadTurn).location, i);
      unchanged = turns.length;
      return first;
    },
  };
};

/** The blocks of a location in canonical order; with `pre` only those of the pre-context. */
const sliceIn = (
  nodes: Nodes | undefined,
  pre: boolean,
  inSys: boolean,
  entries: WeakMap<ThreadNode, ThreadEntry>,
): ThreadSlice => {
  if (nodes === undefined || nodes.size === 0) return [];
  const below = new Map<string | null, ThreadNode[]>();
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
  const entryOf = (node: ThreadNode): ThreadEntry => {
    const known = entries.get(node) ?? { headers: node.headers, payload: node.payload, inSys };
    entries.set(node, known);
    return known;
  };
  walk(null);
  return slice;
};
