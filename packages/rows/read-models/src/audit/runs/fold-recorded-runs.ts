import type { EventOf } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import { findRow, type NamedRow, putRow, type Rows } from '@stemma/row-store';
import { bucketOfText } from '../calls/call-links.ts';
import { RECORDED_RUNS, RERUNS, RUN_CALL_COUNTS, RUN_HISTORIES } from './tables.ts';

type RunRecorded = Extract<EventOf<'run'>, { type: 'RunRecorded' }>;
type RerunEnded = Extract<EventOf<'run'>, { type: 'RerunEnded' }>;

/** A call of a run is recorded in a frame of a history. */
export const countRunCall = (rows: Rows, history: string, run: string, seq: number): void => {
  const { calls, first_seq } = noteRun(rows, history, run);
  putRow(rows, RUN_CALL_COUNTS, { history, run, calls: calls + 1, first_seq: first_seq ?? seq });
};

/** A call of a run belongs elsewhere. */
export const uncountRunCall = (rows: Rows, history: string, run: string): void => {
  const known = noteRun(rows, history, run);
  putRow(rows, RUN_CALL_COUNTS, { ...known, calls: Math.max(0, known.calls - 1) });
};

/** A history has to do with a run. */
export const noteRun = (rows: Rows, history: string, run: string): NamedRow<typeof RUN_CALL_COUNTS> => {
  const known = findRow(rows, RUN_CALL_COUNTS, { history, run });
  if (known !== undefined) return known;
  const row = { history, run, calls: 0, first_seq: null };
  putRow(rows, RUN_CALL_COUNTS, row);
  putRow(rows, RUN_HISTORIES, { bucket: bucketOfText(run), run, history });
  return row;
};

/** Fields of a recorded run that secrets may have been taken out of. */
const REDACTED = ['data_command', 'directory'];

export const foldRecordedRun = (
  { history, seq, branchId, events }: AppliedFrame,
  { run, startedAt, endedAt, end }: RunRecorded,
  index: number,
  rows: Rows,
): void => {
  noteRun(rows, history, run);
  const isRedacted = events.some(
    (event) =>
      event.type === 'ContentRedacted' && event.redactions.some(({ field }) => REDACTED.includes(field)),
  );
  putRow(rows, RECORDED_RUNS, {
    ...{ history, run, seq, index },
    branch_id: branchId,
    started_at: startedAt,
    ended_at: endedAt,
    exit_code: end.exitCode,
    signal: end.signal,
    redacted: isRedacted ? true : null,
  });
};

export const foldRerun = (
  { history, seq, branchId }: AppliedFrame,
  { rerun, of, startedAt, endedAt, end, exit, counts }: RerunEnded,
  index: number,
  rows: Rows,
): void => {
  if (of !== null) noteRun(rows, history, of);
  const { same, otherOrder, bound, differs, extra, missing, live, notKept } = counts;
  putRow(rows, RERUNS, {
    ...{ history, seq, index, rerun, exit },
    of_run: of,
    branch_id: branchId,
    started_at: startedAt,
    ended_at: endedAt,
    exit_code: end.exitCode,
    signal: end.signal,
    ...{ same, bound, differs, extra, missing, live },
    other_order: otherOrder,
    not_kept: notKept,
  });
};
