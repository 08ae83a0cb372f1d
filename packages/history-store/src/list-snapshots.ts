import { fail } from '@stemma/errors';
import type { RowOf, RowReader } from '@stemma/row-store';
import { readAncestorPath } from './ancestor-path.ts';
import { readPositionMeta } from './position-meta.ts';
import { SNAPSHOTS } from './tables.ts';

/** A snapshot: its cycle, its position (branchId, seq), and what was computed of it. */
export type SnapshotRow = {
  readonly cycle: number;
  readonly branchId: number;
  readonly seq: number;
  readonly treeHash: Uint8Array;
  readonly threadHash: Uint8Array;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
};

export type SnapshotPageQuery = {
  /** Begin with this cycle; the newest, or the oldest, if left out. */
  readonly from?: number;
  /** Default `newest`. */
  readonly first?: 'newest' | 'oldest';
  readonly limit?: number;
};

/**
 * The snapshots on the ancestor path of a position, of its own branch and of the ancestors.
 *
 * @throws E_ROWS_DAMAGED if one is missing. E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const listSnapshots = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
  { from, first = 'newest', limit = Infinity }: SnapshotPageQuery = {},
): readonly SnapshotRow[] => {
  let before = -1;
  const cycleRanges = readAncestorPath(rows, history, branchId, seq).map((segment) => {
    const low = before + 1;
    before = Math.max(before, readPositionMeta(rows, history, segment.branchId, segment.limit).meta.cycle);
    return { ...segment, low, high: before };
  });
  if (first === 'newest') cycleRanges.reverse();
  const found: SnapshotRow[] = [];
  for (const cycleRange of cycleRanges) {
    const low = first === 'oldest' ? Math.max(cycleRange.low, from ?? 0) : cycleRange.low;
    const high = first === 'newest' ? Math.min(cycleRange.high, from ?? Infinity) : cycleRange.high;
    if (low > high || found.length >= limit) continue;
    const remaining = limit - found.length;
    const range = {
      prefix: [history, cycleRange.branchId] as const,
      from: low,
      to: high,
      reverse: first === 'newest',
    };
    for (const row of rows.range(SNAPSHOTS, remaining === Infinity ? range : { ...range, limit: remaining }))
      found.push(snapshotOf(row));
  }
  const oldest = oldestCycle(rows, history);
  const [low, high] =
    first === 'newest' ? [oldest, Math.min(before, from ?? Infinity)] : [Math.max(oldest, from ?? 0), before];
  if (found.length !== Math.max(0, Math.min(limit, high - low + 1)))
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack a snapshot of the cycles ${low} to ${high}`, {
      history,
    });
  return found;
};

/** Every commit is the next cycle, from 1 on; only what a history began with may have any number. */
const oldestCycle = (rows: RowReader, history: string): number => {
  const [first] = rows.range(SNAPSHOTS, { prefix: [history, 0], limit: 1 });
  return first?.value[0] === 0 ? first.key[2] : 1;
};

const lacksSnapshot = (history: string, cycle: number): Error =>
  fail('E_ROWS_DAMAGED', `the rows of ${history} lack the snapshot of cycle ${cycle}`, { history, cycle });

/**
 * The snapshot of a cycle on the ancestor path of a position; undefined if there is none.
 *
 * @throws E_ROWS_DAMAGED if it is that of the position, and missing. E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const findSnapshot = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
  cycle: number,
): SnapshotRow | undefined => {
  for (const segment of [...readAncestorPath(rows, history, branchId, seq)].reverse()) {
    const value = rows.get(SNAPSHOTS, [history, segment.branchId, cycle]);
    if (value !== undefined && value[0] <= segment.limit)
      return snapshotOf({ key: [history, segment.branchId, cycle], value });
  }
  if (cycle > 0 && readPositionMeta(rows, history, branchId, seq).meta.cycle === cycle)
    throw lacksSnapshot(history, cycle);
  return undefined;
};

const snapshotOf = ({ key, value }: RowOf<typeof SNAPSHOTS>): SnapshotRow => ({
  cycle: key[2],
  branchId: key[1],
  seq: value[0],
  treeHash: value[1],
  threadHash: value[2],
  nodes: value[3],
  blocks: value[4],
  turns: value[5],
});

/** The newest snapshot on the ancestor path of a position. @throws as {@link findSnapshot} */
export const newestSnapshot = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): SnapshotRow | undefined => {
  const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
  return findSnapshot(rows, history, branchId, seq, cycle);
};
