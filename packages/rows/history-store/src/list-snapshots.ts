import { fail } from '@stemma/errors';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { readAncestorPath, type Segment } from './ancestor-path.ts';
import { readPositionMeta } from './position-meta.ts';
import type { AncestryScope } from './node-reader.ts';
import { readTipSeq } from './read-position.ts';
import { rowsDiffer } from './rows-differ.ts';
import { SNAPSHOTS, TURNS } from './tables.ts';

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
  /** The event of its frame that is the snapshot. */
  readonly index: number;
  /** The event of its frame that made the turn of the head; null: the head was empty. */
  readonly turnIndex: number | null;
  /** It brought the state in as it is. */
  readonly imported: boolean;
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
    const range = { from: low, to: high, reverse: first === 'newest' };
    const own = { history, branch_id: cycleRange.branchId };
    const bounds = remaining === Infinity ? range : { ...range, limit: remaining };
    for (const row of listRows(rows, SNAPSHOTS, own, bounds)) found.push(snapshotOf(row));
  }
  const oldest = oldestCycle(rows, history);
  const [low, high] =
    first === 'newest' ? [oldest, Math.min(before, from ?? Infinity)] : [Math.max(oldest, from ?? 0), before];
  if (found.length !== Math.max(0, Math.min(limit, high - low + 1))) throw lacksSnapshots(history, low, high);
  return found;
};

/**
 * The snapshots of a branch without its ancestors', oldest first.
 *
 * @throws E_ROWS_DAMAGED if one is missing. E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const listOwnSnapshots = (
  rows: RowReader,
  history: string,
  branchId: number,
): readonly SnapshotRow[] => {
  const cycleAt = (at: Segment): number => readPositionMeta(rows, history, at.branchId, at.limit).meta.cycle;
  const path = readAncestorPath(rows, history, branchId, readTipSeq(rows, history, branchId));
  const parent = path.at(-2);
  const low = parent === undefined ? oldestCycle(rows, history) : cycleAt(parent) + 1;
  const high = cycleAt(path.at(-1) as Segment);
  const found = listRows(rows, SNAPSHOTS, { history, branch_id: branchId }).map(snapshotOf);
  if (found.length !== Math.max(0, high - low + 1)) throw lacksSnapshots(history, low, high);
  return found;
};

const lacksSnapshots = (history: string, low: number, high: number): Error =>
  fail('E_ROWS_DAMAGED', `the rows of ${history} lack a snapshot of the cycles ${low} to ${high}`, {
    history,
  });

/** Every commit is the next cycle, from 1 on; only what a history began with may have any number. */
const oldestCycle = (rows: RowReader, history: string): number => {
  const [first] = listRows(rows, SNAPSHOTS, { history, branch_id: 0 }, { limit: 1 });
  return first?.seq === 0 ? first.cycle : 1;
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
  const found = snapshotOn(rows, history, readAncestorPath(rows, history, branchId, seq), cycle);
  if (found !== undefined) return found;
  if (cycle > 0 && readPositionMeta(rows, history, branchId, seq).meta.cycle === cycle)
    throw lacksSnapshot(history, cycle);
  return undefined;
};

const snapshotOn = (
  rows: RowReader,
  history: string,
  ancestorPath: readonly Segment[],
  cycle: number,
): SnapshotRow | undefined => {
  for (let i = ancestorPath.length - 1; i >= 0; i--) {
    const { branchId, limit } = ancestorPath[i] as Segment;
    const row = findRow(rows, SNAPSHOTS, { history, branch_id: branchId, cycle });
    if (row !== undefined && row.seq <= limit) return snapshotOf(row);
  }
  return undefined;
};

/**
 * The snapshot of a cycle on an ancestor path whose newest cycle is known; undefined if the history began after it, or it
 * is still to come.
 *
 * @throws E_ROWS_DAMAGED if it is missing
 */
export const findSnapshotOn = (
  rows: RowReader,
  { history, ancestorPath, cycle: newest }: AncestryScope,
  cycle: number,
): SnapshotRow | undefined => {
  if (cycle > newest) return undefined;
  const found = snapshotOn(rows, history, ancestorPath, cycle);
  if (found === undefined && cycle >= oldestCycle(rows, history)) throw lacksSnapshot(history, cycle);
  return found;
};

/**
 * The turn that the head became at a snapshot, and the event that did it; null: the head was empty.
 *
 * @throws E_ROWS_DAMAGED if its row is missing
 */
export const sealedTurn = (
  rows: RowReader,
  history: string,
  { branchId, cycle, seq, turnIndex }: SnapshotRow,
): { readonly id: string; readonly index: number } | null => {
  if (turnIndex === null) return null;
  const turn = findRow(rows, TURNS, { history, branch_id: branchId, cycle, ordinal: 0, from: seq });
  const id = turn?.id ?? null;
  if (id === null) throw rowsDiffer(history, branchId, seq);
  return { id, index: turnIndex };
};

const snapshotOf = (row: NamedRow<typeof SNAPSHOTS>): SnapshotRow => ({
  cycle: row.cycle,
  branchId: row.branch_id,
  seq: row.seq,
  treeHash: row.tree_hash,
  threadHash: row.thread_hash,
  nodes: row.nodes,
  blocks: row.blocks,
  turns: row.turns,
  index: row.index,
  turnIndex: row.turn_index,
  imported: row.imported === true,
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
