import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import type { RowReader, ValueOf } from '@stemma/row-store';
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

export const positionMetaCells = (meta: PositionMeta): ValueOf<typeof POSITION_META> => [
  meta.cycle,
  meta.oldestLive,
  meta.oldestTurn,
  meta.newest,
  meta.nextIndex,
  meta.sysLive,
  meta.sysRows,
  meta.sum,
  meta.sys === 0 ? null : meta.sys,
  meta.policy,
  meta.olderLive.length === 0 ? null : meta.olderLive,
  meta.config,
];

export const positionMetaOf = (value: ValueOf<typeof POSITION_META>): PositionMeta => ({
  cycle: value[0],
  oldestLive: value[1],
  oldestTurn: value[2],
  newest: value[3],
  nextIndex: value[4],
  sysLive: value[5],
  sysRows: value[6],
  sum: value[7],
  sys: value[8] ?? 0,
  policy: value[9],
  olderLive: (value[10] ?? []) as readonly number[],
  config: value[11] ?? null,
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
  const exact = rows.get(POSITION_META, [history, branchId, seq]);
  if (exact !== undefined) return { at: { branchId, seq }, meta: positionMetaOf(exact) };
  const [own] = rows.range(POSITION_META, { prefix: [history, branchId], to: seq, reverse: true, limit: 1 });
  if (own !== undefined) return { at: { branchId, seq: own.key[2] }, meta: positionMetaOf(own.value) };
  const { parent, metaAt } = readBranch(rows, history, branchId);
  // The branch's row has the key of the metadata at its beginning; a position before that is one of its parent's.
  if (parent === null || metaAt === null || seq < branchId)
    return parent === null
      ? failWithoutMeta(history)
      : readPositionMeta(rows, history, parent.branchId, Math.min(seq, parent.at));
  const value = rows.get(POSITION_META, [history, metaAt.branchId, metaAt.seq]);
  if (value === undefined) return failWithoutMeta(history);
  return { at: metaAt, meta: positionMetaOf(value) };
};

const failWithoutMeta = (history: string): never => {
  throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack its first position`, { history });
};
