import { compareSiblings, flattenRecords, type FlatTree, type TurnRecord } from '@stemma/context-tree';
import type { RowReader } from '@stemma/row-store';
import { readChain, type Link } from './chain.ts';
import { nearestMark, type Mark } from './mark.ts';
import { readNode } from './read-node.ts';
import { readLinks, readTurns } from './read-position.ts';
import { SNAPSHOTS } from './tables.ts';

/** Which nodes of a position are wanted: those at some depths, and all that lie in one place with some ids. */
export type Wanted = { readonly least: number; readonly most: number; readonly ids: readonly string[] };

type Places = readonly (readonly [from: number, to: number])[];

/**
 * A position with a part of its nodes, laid flat: root and regions, and of the rest what is wanted; depths are those of
 * the whole. Only the rows of what is wanted are read (and of a few turns beside, where some are gone).
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const readPart = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
  { least, most, ids }: Wanted,
): FlatTree => {
  const chain = readChain(rows, history, strand, seq);
  const { mark } = nearestMark(rows, history, strand, seq);
  const turns = most < 1 ? [] : newestTurns(rows, history, chain, mark, most);
  const within = turns.slice(Math.max(0, turns.length - most), turns.length - Math.max(1, least) + 1);
  const named = ids.map((id) => placeOf(rows, history, strand, seq, id));
  const places: Places = [
    ...within.map(({ place }) => [place.cycle, place.cycle] as const),
    ...(least <= 0 && most >= 0 ? [[mark.cycle + 1, mark.cycle + 1] as const] : []),
    ...named.flatMap((place) => (typeof place === 'number' ? [[place, place] as const] : [])),
  ];
  const joined = join(places);
  const parts = readLinks(rows, history, chain, mark, {
    sys: (least <= -1 && most >= -1) || named.includes('sys'),
    places: joined,
    turns: joined.map(([from, to]) => [from, Math.min(to, mark.cycle)] as const),
  });
  const read = [...parts.turns];
  const known = new Set(read.map(({ headers }) => headers.id));
  const all = [...read, ...turns.filter(({ headers }) => !known.has(headers.id))];
  // A turn of the same cycle as one that is wanted may be none of the newest: it would count as one.
  const counted = new Set(turns.map(({ headers }) => headers.id));
  const kept = ids.length > 0 ? all : all.filter(({ headers }) => counted.has(headers.id));
  const isKept = new Set(kept.map(({ place }) => `${place.cycle}/${place.ordinal}`));
  const head = mark.cycle + 1;
  const nodes = [...parts.nodes].filter(
    ({ place }) =>
      place.kind === 'sys' || place.cycle === head || isKept.has(`${place.cycle}/${place.ordinal}`),
  );
  return flattenRecords({ ...parts, turns: kept, nodes });
};

/** Where a node lies that is there: the cycle of its place, or under `^sys`; null for what is fixed or not there. */
const placeOf = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
  id: string,
): number | 'sys' | null => {
  const found = readNode(rows, history, strand, seq, id);
  if (found === undefined || found.kind === 'fixed') return null;
  return found.record.place.kind === 'sys' ? 'sys' : found.record.place.cycle;
};

/** At least the `most` newest turns, oldest first. */
const newestTurns = (
  rows: RowReader,
  history: string,
  chain: readonly Link[],
  mark: Mark,
  most: number,
): readonly TurnRecord[] => {
  const strayed = strayedTurns(rows, history, chain, mark);
  for (let span = most; ; span *= 2) {
    const first = Math.max(mark.oldestTurn, mark.cycle - span + 1);
    const found = readTurns(rows, history, chain, mark.cycle, first, mark.cycle);
    const complete = first === mark.oldestTurn;
    if (!complete && found.length + strayed.length < most) continue;
    const beside = strayed.filter(({ place }) => place.cycle < first);
    return [...found, ...beside].sort((a, b) => compareSiblings(a.headers, b.headers));
  }
};

/** Turns that an import brought with an offset above 0: they stand behind all that were sealed since. */
const strayedTurns = (
  rows: RowReader,
  history: string,
  chain: readonly Link[],
  mark: Mark,
): readonly TurnRecord[] => {
  const [first] = rows.range(SNAPSHOTS, { prefix: [history, 0], limit: 1 });
  if (first?.value[0] !== 0) return [];
  const cycle = first.key[2] as number;
  return readTurns(rows, history, chain, mark.cycle, cycle, cycle).filter(
    ({ headers }) => headers.offset > 0,
  );
};

/** The same cycles as ascending ranges that do not overlap. */
const join = (places: Places): Places => {
  const joined: [number, number][] = [];
  for (const [from, to] of [...places].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
};
