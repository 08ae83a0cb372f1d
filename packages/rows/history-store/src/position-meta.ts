import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import { findRow, listRows, type NamedValue, type RowReader } from '@stemma/row-store';
import { readBranch } from './ancestor-path.ts';
import { POSITION_META } from './tables.ts';

/** What the rows hold of a position besides its nodes. `policy`, `config`: the frames that configured them. */
export type PositionMeta = {
  /** Of the newest commit or import. */
  readonly cycle: number;
  /** The lowest location with living nodes, except for those in `olderLive`, which are lower. */
  readonly oldestLive: number;
  readonly olderLive: readonly number[];
  readonly oldestTurn: number;
  /** The largest `created_at_ns` of a node made on the ancestor path. */
  readonly newest: bigint;
  /** The next `creation_index`. */
  readonly nextIndex: number;
  readonly policy: number | null;
  readonly config: number | null;
  /** The number of the `^sys` location, its living nodes, and its rows since it was begun. */
  readonly sys: number;
  readonly sysLive: number;
  readonly sysRows: number;
  /** Of the records that live here ({@link sumOfRecords}). */
  readonly sum: number;
};

export const positionMetaColumns = (meta: PositionMeta): NamedValue<typeof POSITION_META> => ({
  cycle: meta.cycle,
  oldest_live: meta.oldestLive,
  oldest_turn: meta.oldestTurn,
  newest: meta.newest,
  next_index: meta.nextIndex,
  sys_live: meta.sysLive,
  sys_rows: meta.sysRows,
  sum: meta.sum,
  sys: meta.sys === 0 ? null : meta.sys,
  policy: meta.policy,
  older_live: meta.olderLive.length === 0 ? null : meta.olderLive,
  config: meta.config,
});

export const positionMetaOf = (row: NamedValue<typeof POSITION_META>): PositionMeta => ({
  cycle: row.cycle,
  oldestLive: row.oldest_live,
  oldestTurn: row.oldest_turn,
  newest: row.newest,
  nextIndex: row.next_index,
  sysLive: row.sys_live,
  sysRows: row.sys_rows,
  sum: row.sum,
  sys: row.sys ?? 0,
  policy: row.policy,
  olderLive: (row.older_live ?? []) as readonly number[],
  config: row.config,
});

export const equalPositionMeta = (a: PositionMeta, b: PositionMeta): boolean =>
  a.cycle === b.cycle &&
  a.oldestLive === b.oldestLive &&
  a.oldestTurn === b.oldestTurn &&
  a.newest === b.newest &&
  a.nextIndex === b.nextIndex &&
  a.policy === b.policy &&
  a.config === b.config &&
  a.sys === b.sys &&
  a.sysLive === b.sysLive &&
  a.sysRows === b.sysRows &&
  a.sum === b.sum &&
  a.olderLive.length === b.olderLive.length &&
  a.olderLive.every((location, i) => location === b.olderLive[i]);

/**
 * The metadata of a position: the newest on its ancestor path (snapshots: read).
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readPositionMeta = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): { readonly at: BranchPosition; readonly meta: PositionMeta } => {
  // Most frames write metadata, and one row is found faster than the newest of several.
  const exact = findRow(rows, POSITION_META, { history, branch_id: branchId, seq });
  if (exact !== undefined) return { at: { branchId, seq }, meta: positionMetaOf(exact) };
  const newest = { to: seq, reverse: true, limit: 1 };
  const [own] = listRows(rows, POSITION_META, { history, branch_id: branchId }, newest);
  if (own !== undefined) return { at: { branchId, seq: own.seq }, meta: positionMetaOf(own) };
  const { parent, metaAt } = readBranch(rows, history, branchId);
  // The branch's row has the key of the metadata at its beginning; a position before that is one of its parent's.
  if (parent === null || metaAt === null || seq < branchId)
    return parent === null
      ? failWithoutMeta(history)
      : readPositionMeta(rows, history, parent.branchId, Math.min(seq, parent.at));
  const row = findRow(rows, POSITION_META, { history, branch_id: metaAt.branchId, seq: metaAt.seq });
  if (row === undefined) return failWithoutMeta(history);
  return { at: metaAt, meta: positionMetaOf(row) };
};

const failWithoutMeta = (history: string): never => {
  throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack its first position`, { history });
};
