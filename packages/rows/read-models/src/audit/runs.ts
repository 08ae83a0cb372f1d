import type { RunEndedHow } from '@stemma/events';
import type { RowReader, ValueOf } from '@stemma/row-store';
import { listHistories } from './queries.ts';
import { OPEN_RUN_HISTORIES, OPEN_RUNS, POOL_RUNS } from './run-tables.ts';

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
    rows
      .range(OPEN_RUN_HISTORIES, { prefix: [] })
      .flatMap(({ key: [history] }) =>
        rows
          .range(OPEN_RUNS, { prefix: [history] })
          .flatMap(({ value: [run] }) => findPoolRun(rows, history, run) ?? []),
      ),
  );

/** All runs of a history, or of all, in the order in which they were asked for. */
export const listPoolRuns = (rows: RowReader, history?: string): readonly PoolRunRow[] => {
  const histories = history === undefined ? listHistories(rows).map((row) => row.history) : [history];
  return inOrder(
    histories.flatMap((each) =>
      rows.range(POOL_RUNS, { prefix: [each] }).map(({ key, value }) => runOf(each, key[1], value)),
    ),
  );
};

const inOrder = (runs: readonly PoolRunRow[]): readonly PoolRunRow[] =>
  [...runs].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.seq - b.seq));

export const findPoolRun = (rows: RowReader, history: string, run: string): PoolRunRow | undefined => {
  const value = rows.get(POOL_RUNS, [history, run]);
  return value && runOf(history, run, value);
};

const runOf = (history: string, run: string, row: ValueOf<typeof POOL_RUNS>): PoolRunRow => {
  const [seq, branchId, at, actor, notes, rounds, checkpointEvery, tokens, cost, seconds, ...rest] = row;
  const [round, begunSeq, begunAt, runner, how, endedSeq, endedAt, by, said, why, code, done] = rest;
  return {
    history,
    run,
    branchId,
    seq,
    at,
    actor,
    notes,
    rounds,
    checkpointEvery,
    tokens,
    cost,
    seconds,
    begun: round === null ? null : { round, seq: begunSeq ?? 0, at: begunAt ?? 0n, runner: runner ?? '' },
    ended:
      how === null
        ? null
        : {
            how: how as RunEndedHow,
            seq: endedSeq ?? 0,
            at: endedAt ?? 0n,
            by,
            notes: said ?? '',
            why: why ?? '',
            code,
            rounds: done,
          },
  };
};
