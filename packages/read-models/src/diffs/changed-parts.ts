import { flattenRecords, type FlatTree, type NodeRecord, type TurnRecord } from '@stemma/context-tree';
import {
  findSnapshot,
  nearestMark,
  nodeReader,
  readLinks,
  turnAt,
  type Link,
  type NodesAt,
} from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { DUE, TOUCHED } from './tables.ts';
import { commonVista, vistaFrom, type Vista } from './vista.ts';

/**
 * Two positions with as much of each as can differ, and what that lies in: restricted to `ids`, their diff is that of the
 * whole trees.
 */
export type ChangedParts = {
  /** Every id that can be in the diff: others are the same in both, or in neither. */
  readonly ids: ReadonlySet<string>;
  /** Depths of turns are not those of the whole. */
  readonly older: FlatTree;
  readonly newer: FlatTree;
};

type At = { readonly strand: number; readonly seq: number };

/** More ids are never looked at one by one. */
const MOST_IDS = 4_096;
/** Nor more than one in so many of the nodes there are: reading a node alone costs that much more than among others. */
const SHARE = 8;
/** But so many always. */
const FEW_IDS = 16;

/**
 * What can differ between two positions of a history, read from what the frames between them touched, what a commit
 * between them sealed, and what grows older: no tree is read. Undefined where that is so much that reading both trees
 * costs less.
 *
 * @param most look at no more ids than this; by default what is worth it.
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const changedParts = (
  rows: RowReader,
  history: string,
  { a, b }: { readonly a: At; readonly b: At },
  most?: number,
): ChangedParts | undefined => {
  const [from, to] = [a, b].map(({ strand, seq }) => vistaFrom(rows, history, strand, seq)) as [Vista, Vista];
  const ids = idsThatDiffer(rows, from, to, most ?? mostIds(rows, history, b, to.cycle));
  if (ids === undefined) return undefined;
  return { ids, older: partOf(rows, from, ids), newer: partOf(rows, to, ids) };
};

const mostIds = (rows: RowReader, history: string, { strand, seq }: At, cycle: number): number => {
  const nodes = findSnapshot(rows, history, strand, seq, cycle)?.nodes ?? 0;
  return Math.min(MOST_IDS, Math.max(FEW_IDS, Math.floor(nodes / SHARE)));
};

const idsThatDiffer = (
  rows: RowReader,
  from: Vista,
  to: Vista,
  most: number,
): ReadonlySet<string> | undefined => {
  const common = commonVista(rows, from, to);
  const ids = new Set<string>();
  for (const { chain } of [from, to])
    for (const { strand, limit } of chain) {
      const shared = common.chain.find((link) => link.strand === strand)?.limit ?? -1;
      if (shared >= limit) continue;
      const range = { prefix: [from.history, strand], from: shared + 1, to: limit, limit: most + 1 };
      const frames = rows.range(TOUCHED, range);
      if (frames.length > most) return undefined;
      for (const { value } of frames) for (const id of value[0] as readonly string[]) ids.add(id);
      if (ids.size > most) return undefined;
    }
  if (from.cycle === common.cycle && to.cycle === common.cycle) return ids;
  for (const id of inTheHead(rows, common)) ids.add(id);
  const ageing = growingOlder(rows, common, Math.max(from.cycle, to.cycle), most);
  if (ageing === undefined) return undefined;
  for (const id of ageing) ids.add(id);
  return ids.size > most ? undefined : ids;
};

/** What lies directly in the head: the next commit puts it under a turn. What comes into later heads is touched. */
const inTheHead = (
  rows: RowReader,
  { history, chain, cycle, at }: Vista & { at: Link },
): readonly string[] => {
  const { mark } = nearestMark(rows, history, at.strand, at.limit);
  const places = [[cycle + 1, cycle + 1]] as const;
  const { nodes } = readLinks(rows, history, chain, mark, { sys: false, places, turns: [] });
  return [...nodes].flatMap(({ headers, parent }) => (parent === null ? [headers.id] : []));
};

/** What was there at the common position, ends with a cycle behind `cycle`, and so may show another `ttl` until then. */
const growingOlder = (
  rows: RowReader,
  { history, chain }: Vista,
  cycle: number,
  most: number,
): readonly string[] | undefined => {
  const ids: string[] = [];
  for (const { strand, limit } of chain) {
    const due = rows.range(DUE, { prefix: [history, strand], from: cycle + 1, limit: most + 1 });
    if (due.length > most) return undefined;
    for (const { key } of due) if ((key[3] as number) <= limit) ids.push(key[4] as string);
  }
  return ids;
};

/** Nodes of a position with what they lie in. */
const partOf = (rows: RowReader, vista: Vista, ids: ReadonlySet<string>): FlatTree => {
  const { history, chain, cycle } = vista;
  const at: NodesAt = { history, chain, cycle };
  const read = nodeReader(rows, at);
  const nodes = new Map<string, NodeRecord>();
  const turns = new Map<string, TurnRecord>();
  const places = new Set<string>();
  for (const id of ids)
    for (let next: string | null = id; next !== null && !nodes.has(next);) {
      const found = read(next);
      if (found?.kind === 'turn') turns.set(next, found.record);
      if (found?.kind !== 'node') break;
      const { place, parent } = found.record;
      nodes.set(next, found.record);
      next = parent;
      if (place.kind === 'sys' || places.has(`${place.cycle}/${place.ordinal}`)) continue;
      places.add(`${place.cycle}/${place.ordinal}`);
      const turn = turnAt(rows, at, place);
      if (turn !== undefined) turns.set(turn.headers.id, turn);
    }
  const { mark } = nearestMark(rows, history, chain.at(-1)?.strand ?? 0, chain.at(-1)?.limit ?? 0);
  const { fixed } = readLinks(rows, history, chain, mark, { sys: false, places: [], turns: [] });
  return flattenRecords({ cycle, fixed, turns: turns.values(), nodes: nodes.values() });
};
