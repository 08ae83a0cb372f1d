import { readChain, type Link } from '@stemma/history-store';
import { listActs, type Act } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

type Place = { readonly strand: number; readonly seq: number };

/** How two positions of a history lie to each other. */
export type Meeting = {
  /** The newest position that lies on both chains. */
  readonly stem: Place;
  readonly a: Side;
  readonly b: Side;
};

/** What a chain has behind the stem. */
export type Side = {
  /** Its strands from the stem on, each up to its limit; of the first only what comes after the stem. */
  readonly links: readonly Link[];
  /** Its first frame behind the stem; null: the position is the stem. */
  readonly first: number | null;
  /** True if that frame starts a lineage: a fork or a rollback. */
  readonly starts: boolean;
};

/**
 * Where the chains of two positions of one history part (context-tree §5). The frames up to the stem are the same; of
 * what comes behind it neither side has any of the other's.
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const readMeeting = (rows: RowReader, history: string, a: Place, b: Place): Meeting => {
  const [chainA, chainB] = [chainOf(rows, history, a), chainOf(rows, history, b)];
  let common = 0;
  while (sameLink(chainA[common], chainB[common])) common++;
  const [nextA, nextB] = [chainA[common], chainB[common]];
  // Both go on in one strand, one of them further than the other, or each has left for a strand of its own.
  const shared = nextA !== undefined && nextA.strand === nextB?.strand;
  const last = chainA[common - 1] as Link;
  const met: Place = shared
    ? { strand: nextA.strand, seq: Math.min(nextA.limit, nextB.limit) }
    : { strand: last.strand, seq: last.limit };
  const stem = { strand: met.strand, seq: ownFrameUpTo(rows, history, met) };
  return {
    stem,
    a: sideOf(rows, history, stem, chainA.slice(common)),
    b: sideOf(rows, history, stem, chainB.slice(common)),
  };
};

const sameLink = (a: Link | undefined, b: Link | undefined): boolean =>
  a !== undefined && b !== undefined && a.strand === b.strand && a.limit === b.limit;

/** The chain without strands that give it no frame: one that was left before it began. */
const chainOf = (rows: RowReader, history: string, { strand, seq }: Place): readonly Link[] =>
  readChain(rows, history, strand, seq).filter((link) => link.limit >= link.strand);

const sideOf = (rows: RowReader, history: string, stem: Place, rest: readonly Link[]): Side => {
  const own = rest[0];
  if (own === undefined) return { links: [], first: null, starts: false };
  if (own.strand !== stem.strand) return { links: rest, first: own.strand, starts: true };
  const first = ownFrameBehind(rows, history, own, stem.seq);
  if (first !== null) return { links: rest, first, starts: false };
  return sideOf(rows, history, { strand: -1, seq: -1 }, rest.slice(1));
};

/** So many frames are looked at in one go: other lineages' frames may lie between. */
const AHEAD = 64;

const ownFrameBehind = (rows: RowReader, history: string, { strand, limit }: Link, seq: number) => {
  for (const act of actsBetween(rows, history, seq + 1, limit)) if (act.strand === strand) return act.seq;
  return null;
};

/** The newest frame of a strand up to a limit: the position that the limit means. */
const ownFrameUpTo = (rows: RowReader, history: string, { strand, seq }: Place): number => {
  for (let to = seq; to >= strand; to -= AHEAD) {
    const from = Math.max(strand, to - AHEAD + 1);
    const found = listActs(rows, history, { from, limit: to - from + 1 }).findLast(
      (act) => act.strand === strand && act.seq <= to && !act.observed,
    );
    if (found !== undefined) return found.seq;
  }
  return strand;
};

/** The frames of a history from one to another, both inclusive, of all its lineages. */
export const actsBetween = function* (
  rows: RowReader,
  history: string,
  from: number,
  to: number,
): Iterable<Act> {
  for (let next = from; next <= to;) {
    const page = listActs(rows, history, { from: next, limit: Math.min(AHEAD * 16, to - next + 1) });
    for (const act of page) if (act.seq <= to) yield act;
    const last = page.at(-1);
    if (last === undefined) return;
    next = last.seq + 1;
  }
};
