import { isOf, type EventOf } from '@stemma/events';
import { interventionIn, type AppliedFrame } from '@stemma/history';
import { findRow, putRow, removeRow, type Rows } from '@stemma/row-store';
import { foldRecordedRun, foldRerun } from './fold-recorded-runs.ts';
import { OPEN_RUN_HISTORIES, OPEN_RUNS, POOL_RUNS } from './tables.ts';

/** Keeps the runs of pools that somebody asked for, who takes them and how they end; and the runs and reruns of programs. */
export const foldRuns = (frame: AppliedFrame, rows: Rows): void => {
  frame.events.forEach((event, index) => {
    if (isOf(event, 'run')) foldRun(frame, event, index, rows);
  });
};

const foldRun = (frame: AppliedFrame, event: EventOf<'run'>, index: number, rows: Rows): void => {
  switch (event.type) {
    case 'RunRecorded':
      foldRecordedRun(frame, event, index, rows);
      return;
    case 'RerunEnded':
      foldRerun(frame, event, index, rows);
      return;
    case 'EffectRecorded':
      return;
    case 'RunRequested':
    case 'RunTaken':
    case 'RunEnded':
      foldPoolRun(frame, event, rows);
  }
};

type PoolRunEvent = Extract<EventOf<'run'>, { type: 'RunRequested' | 'RunTaken' | 'RunEnded' }>;

const foldPoolRun = (frame: AppliedFrame, event: PoolRunEvent, rows: Rows): void => {
  const { history, seq, at, branchId, command, author } = frame;
  const actor = 'actor' in author ? author.actor : null;
  if (event.type === 'RunRequested') {
    putRow(rows, POOL_RUNS, {
      history,
      run: command,
      seq,
      branch_id: branchId,
      at,
      actor: actor ?? '',
      notes: interventionIn(frame)?.notes ?? '',
      rounds: event.rounds,
      checkpoint_every: event.checkpointEvery,
      tokens: event.tokens,
      cost: event.cost,
      seconds: event.seconds,
    });
    putRow(rows, OPEN_RUNS, { history, seq, run: command });
    countOpen(rows, history, 1);
    return;
  }
  const row = findRow(rows, POOL_RUNS, { history, run: event.run });
  // A run ends once; whoever took it may not have heard of that.
  if (row === undefined || row.how !== null) return;
  if (event.type === 'RunTaken') {
    const first = row.round === null ? { round: event.round, begun_seq: seq, begun_at: at } : {};
    putRow(rows, POOL_RUNS, { ...row, ...first, runner: event.runner });
    return;
  }
  putRow(rows, POOL_RUNS, {
    ...row,
    how: event.how,
    ended_seq: seq,
    ended_at: at,
    ended_by: actor,
    ended_notes: actor === null ? null : (interventionIn(frame)?.notes ?? ''),
    why: event.why,
    code: event.code,
    done: event.rounds,
  });
  removeRow(rows, OPEN_RUNS, { history, seq: row.seq });
  countOpen(rows, history, -1);
};

/** A history without an open run is in no such table. */
const countOpen = (rows: Rows, history: string, more: number): void => {
  const runs = (findRow(rows, OPEN_RUN_HISTORIES, { history })?.runs ?? 0) + more;
  if (runs === 0) removeRow(rows, OPEN_RUN_HISTORIES, { history });
  else putRow(rows, OPEN_RUN_HISTORIES, { history, runs });
};
