import { fail } from '@stemma/errors';
import type { RowReader, Value } from '@stemma/row-store';
import { readStrand } from './chain.ts';
import { MARKS } from './tables.ts';

/** What is known of a position besides its nodes. `policy`, `config`: the frames that configured them. */
export type Mark = {
  /** Of the newest commit or import. */
  readonly cycle: number;
  /** The lowest place with something alive, but for those in `also`, which are lower. */
  readonly oldestLive: number;
  readonly also: readonly number[];
  readonly oldestTurn: number;
  /** The largest `created_at_ns` of a node made on the chain. */
  readonly newest: bigint;
  /** The next `creation_index`. */
  readonly nextIndex: number;
  readonly policy: number | null;
  readonly config: number | null;
  /** The number of the `^sys` place, its living nodes, and its rows since it was begun. */
  readonly sys: number;
  readonly sysLive: number;
  readonly sysRows: number;
};

export type MarkAddress = { readonly strand: number; readonly seq: number };

export const markCells = (mark: Mark): Value => [
  mark.cycle,
  mark.oldestLive,
  mark.oldestTurn,
  mark.newest,
  mark.nextIndex,
  mark.sysLive,
  mark.sysRows,
  mark.sys === 0 ? null : mark.sys,
  mark.policy,
  mark.also.length === 0 ? null : mark.also,
  mark.config,
];

export const markOf = (value: Value): Mark => ({
  cycle: value[0] as number,
  oldestLive: value[1] as number,
  oldestTurn: value[2] as number,
  newest: value[3] as bigint,
  nextIndex: value[4] as number,
  sysLive: value[5] as number,
  sysRows: value[6] as number,
  sys: (value[7] ?? 0) as number,
  policy: value[8] as number | null,
  also: (value[9] ?? []) as readonly number[],
  config: (value[10] ?? null) as number | null,
});

export const sameMark = (a: Mark, b: Mark): boolean =>
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
  a.also.length === b.also.length &&
  a.also.every((place, i) => place === b.also[i]);

/**
 * The mark that holds at a position: the newest on its chain (snapshots: read).
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const nearestMark = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
): { readonly at: MarkAddress; readonly mark: Mark } => {
  const [own] = rows.range(MARKS, { prefix: [history, strand], to: seq, reverse: true, limit: 1 });
  if (own !== undefined) return { at: { strand, seq: own.key[2] as number }, mark: markOf(own.value) };
  const { parent, mark } = readStrand(rows, history, strand);
  // The strand's row knows the mark at its beginning; before that, its parent's past counts.
  if (parent === null || mark === null || seq < strand)
    return parent === null
      ? beforeAll(history)
      : nearestMark(rows, history, parent.strand, Math.min(seq, parent.at));
  const value = rows.get(MARKS, [history, mark.strand, mark.seq]);
  if (value === undefined) return beforeAll(history);
  return { at: mark, mark: markOf(value) };
};

const beforeAll = (history: string): never => {
  throw fail('E_INTERNAL', `the rows of ${history} lack the mark of its beginning`);
};
