import type { RunEndedHow } from '@stemma/events';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { listHistories } from '../branches/queries.ts';
import { OPEN_RUN_HISTORIES, OPEN_RUNS, POOL_RUNS } from './tables.ts';

/** A run of a pool that somebody asked for. */
export type PoolRunRow = {
  readonly history: string;
  /** The id of the command that asked for it. */
  readonly run: string;
  readonly branchId: number;
  readonly seq: number;
  readonly at: bigint;
  readonly actor: string;
  readonly notes: string;
  readonly rounds: number;
  readonly checkpointEvery: number | null;
  readonly tokens: number | null;
  readonly cost: string | null;
  readonly seconds: number | null;
  /** Null: no runner took it yet. */
  readonly begun: {
    /** The newest round of the branch that was done then. */
    readonly round: number;
    readonly seq: number;
    readonly at: bigint;
    readonly runner: string;
  } | null;
  /** Null: it is not over. */
  readonly ended: {
    readonly how: RunEndedHow;
    readonly seq: number;
    readonly at: bigint;
    /** The actor who ended it; null: its runner did. */
    readonly by: string | null;
    /** Its reason. */
    readonly notes: string;
    readonly why: string;
    readonly code: string | null;
    readonly rounds: number | null;
  } | null;
};

/** The runs of all histories that are not over; the first that was asked for first. */
export const listOpenRuns = (rows: RowReader): readonly PoolRunRow[] =>
  inOrder(
    listRows(rows, OPEN_RUN_HISTORIES, {}).flatMap(({ history }) =>
      listRows(rows, OPEN_RUNS, { history }).flatMap(({ run }) => findPoolRun(rows, history, run) ?? []),
    ),
  );

/** All runs of a history, or of all, in the order in which they were asked for. */
export const listPoolRuns = (rows: RowReader, history?: string): readonly PoolRunRow[] => {
  const histories = history === undefined ? listHistories(rows).map((row) => row.history) : [history];
  return inOrder(histories.flatMap((each) => listRows(rows, POOL_RUNS, { history: each }).map(runOf)));
};

const inOrder = (runs: readonly PoolRunRow[]): readonly PoolRunRow[] =>
  [...runs].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq));

export const findPoolRun = (rows: RowReader, history: string, run: string): PoolRunRow | undefined => {
  const row = findRow(rows, POOL_RUNS, { history, run });
  return row && runOf(row);
};

const runOf = (row: NamedRow<typeof POOL_RUNS>): PoolRunRow => ({
  history: row.history,
  run: row.run,
  branchId: row.branch_id,
  seq: row.seq,
  at: row.at,
  actor: row.actor,
  notes: row.notes,
  rounds: row.rounds,
  checkpointEvery: row.checkpoint_every,
  tokens: row.tokens,
  cost: row.cost,
  seconds: row.seconds,
  begun:
    row.round === null
      ? null
      : {
          round: row.round,
          seq: row.begun_seq ?? 0,
          at: row.begun_at ?? 0n,
          runner: row.runner ?? '',
        },
  ended:
    row.how === null
      ? null
      : {
          how: row.how as RunEndedHow,
          seq: row.ended_seq ?? 0,
          at: row.ended_at ?? 0n,
          by: row.ended_by,
          notes: row.ended_notes ?? '',
          why: row.why ?? '',
          code: row.code,
          rounds: row.done,
        },
});
