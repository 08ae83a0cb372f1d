import type { Row, RowReader } from '@stemma/row-store';
import { readChain } from './chain.ts';
import { nearestMark } from './mark.ts';
import { SNAPSHOTS } from './tables.ts';

/** A snapshot: its cycle, the position (strand, seq) it is, and what was computed of it. */
export type SnapshotRow = {
  readonly cycle: number;
  readonly strand: number;
  readonly seq: number;
  readonly treeHash: Uint8Array;
  readonly threadHash: Uint8Array;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
};

export type Page = {
  /** Begin with this cycle; the newest, or the oldest, if left out. */
  readonly from?: number;
  /** Default `newest`. */
  readonly first?: 'newest' | 'oldest';
  readonly limit?: number;
};

/**
 * The snapshots on the chain of a position, its own lineage's and those of its ancestors up to where it left them.
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const listSnapshots = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
  { from, first = 'newest', limit = Infinity }: Page = {},
): readonly SnapshotRow[] => {
  let before = -1;
  const stretches = readChain(rows, history, strand, seq).map((link) => {
    const low = before + 1;
    before = Math.max(before, nearestMark(rows, history, link.strand, link.limit).mark.cycle);
    return { ...link, low, high: before };
  });
  if (first === 'newest') stretches.reverse();
  const found: SnapshotRow[] = [];
  for (const stretch of stretches) {
    const low = first === 'oldest' ? Math.max(stretch.low, from ?? 0) : stretch.low;
    const high = first === 'newest' ? Math.min(stretch.high, from ?? Infinity) : stretch.high;
    if (low > high || found.length >= limit) continue;
    const left = limit - found.length;
    const range = { prefix: [history, stretch.strand], from: low, to: high, reverse: first === 'newest' };
    for (const row of rows.range(SNAPSHOTS, left === Infinity ? range : { ...range, limit: left }))
      found.push(snapshotOf(row));
  }
  return found;
};

/** The snapshot of a cycle on the chain of a position; undefined if there is none. */
export const findSnapshot = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
  cycle: number,
): SnapshotRow | undefined => {
  for (const link of [...readChain(rows, history, strand, seq)].reverse()) {
    const value = rows.get(SNAPSHOTS, [history, link.strand, cycle]);
    if (value !== undefined && (value[0] as number) <= link.limit)
      return snapshotOf({ key: [history, link.strand, cycle], value });
  }
  return undefined;
};

const snapshotOf = ({ key, value }: Row): SnapshotRow => ({
  cycle: key[2] as number,
  strand: key[1] as number,
  seq: value[0] as number,
  treeHash: value[1] as Uint8Array,
  threadHash: value[2] as Uint8Array,
  nodes: value[3] as number,
  blocks: value[4] as number,
  turns: value[5] as number,
});
