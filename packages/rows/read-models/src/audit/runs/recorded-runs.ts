import type { EventRef } from '@stemma/context-tree';
import type { ProgramEnd, EndedRerunCounts } from '@stemma/events';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { bucketOfText } from '../calls/call-links.ts';
import { CALLS } from '../calls/tables.ts';
import { RECORDED_RUNS, RERUNS, RUN_CALL_COUNTS, RUN_HISTORIES } from './tables.ts';

/** A run of a program that a history has to do with, how many of its calls are there, and the frame of the first. */
export type RunInHistory = {
  readonly run: string;
  readonly calls: number;
  readonly firstSeq: number | null;
};

/** Which program was run, and how it ended: the event that says so, and what rows know of it. */
export type RecordedRunRow = {
  readonly history: string;
  readonly run: string;
  readonly location: EventRef;
  readonly branchId: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: ProgramEnd;
  /** Secrets were taken out of its words or its directory. */
  readonly isRedacted: boolean;
};

/** What came of running an agent again. */
export type RerunRow = {
  readonly history: string;
  readonly rerun: string;
  /** The run that answered; null: calls that were recorded under none. */
  readonly of: string | null;
  readonly location: EventRef;
  readonly branchId: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly end: ProgramEnd;
  /** The exit code of the rerun. */
  readonly exit: number;
  readonly counts: EndedRerunCounts;
};

/** The runs that a history has to do with, by id. */
export const listRunsIn = (rows: RowReader, history: string): readonly RunInHistory[] =>
  listRows(rows, RUN_CALL_COUNTS, { history }).map(({ run, calls, first_seq }) => ({
    ...{ run, calls },
    firstSeq: first_seq,
  }));

/** How many calls of a run are in a history. */
export const countCallsOfRun = (rows: RowReader, history: string, run: string): number =>
  findRow(rows, RUN_CALL_COUNTS, { history, run })?.calls ?? 0;

/** The histories that have to do with a run, by id. */
export const historiesOfRun = (rows: RowReader, run: string): readonly string[] =>
  listRows(rows, RUN_HISTORIES, { bucket: bucketOfText(run), run }).map(({ history }) => history);

/** The first call of a run with messages, and the branch that it is recorded on; undefined: none is recorded. */
export const firstCallOfRun = (
  rows: RowReader,
  run: string,
): { readonly history: string; readonly branchId: number } | undefined => {
  const firsts = historiesOfRun(rows, run).flatMap((history) => {
    const { calls = 0, first_seq = null } = findRow(rows, RUN_CALL_COUNTS, { history, run }) ?? {};
    if (calls === 0 || first_seq === null) return [];
    const [row] = listRows(rows, CALLS, { history }, { from: first_seq, limit: 1 });
    return row === undefined ? [] : [{ history, branchId: row.branch_id, at: row.at }];
  });
  const [first] = firsts.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return first && { history: first.history, branchId: first.branchId };
};

/** Which program was run; undefined: it is not recorded in the history. */
export const findRecordedRun = (
  rows: RowReader,
  history: string,
  run: string,
): RecordedRunRow | undefined => {
  const row = findRow(rows, RECORDED_RUNS, { history, run });
  return row && recordedRunOf(row);
};

/** The reruns that are recorded in a history, in the order in which they ended. */
export const listReruns = (rows: RowReader, history: string): readonly RerunRow[] =>
  listRows(rows, RERUNS, { history }).map(rerunOf);

const recordedRunOf = (row: NamedRow<typeof RECORDED_RUNS>): RecordedRunRow => ({
  history: row.history,
  run: row.run,
  location: { seq: row.seq, index: row.index },
  branchId: row.branch_id,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  end: { exitCode: row.exit_code, signal: row.signal },
  isRedacted: row.redacted === true,
});

const rerunOf = (row: NamedRow<typeof RERUNS>): RerunRow => ({
  history: row.history,
  rerun: row.rerun,
  of: row.of_run,
  location: { seq: row.seq, index: row.index },
  branchId: row.branch_id,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  end: { exitCode: row.exit_code, signal: row.signal },
  exit: row.exit,
  counts: {
    same: row.same,
    otherOrder: row.other_order,
    bound: row.bound,
    differs: row.differs,
    extra: row.extra,
    missing: row.missing,
    live: row.live,
    notKept: row.not_kept,
  },
});
