import { isOf, type EventOf } from '@stemma/events';
import { interventionIn, type AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { OPEN_RUN_HISTORIES, OPEN_RUNS, POOL_RUNS } from './run-tables.ts';

/** Keeps the runs of pools that somebody asked for: who takes them, and how they end. */
export const foldRuns = (frame: AppliedFrame, rows: Rows): void => {
  for (const event of frame.events) if (isOf(event, 'run')) foldRun(frame, event, rows);
};

/** The columns of the end of a run that is not over. */
const GOES_ON = [null, null, null, null, null, null, null, null] as const;

const foldRun = (frame: AppliedFrame, event: EventOf<'run'>, rows: Rows): void => {
  const { history, seq, at, branchId, command, author } = frame;
  const actor = 'actor' in author ? author.actor : null;
  if (event.type === 'RunRequested') {
    const { rounds, checkpointEvery, tokens, cost, seconds } = event;
    const asked = [seq, branchId, at, actor ?? '', interventionIn(frame)?.notes ?? '', rounds] as const;
    const limits = [checkpointEvery, tokens, cost, seconds] as const;
    rows.put(POOL_RUNS, [history, command], [...asked, ...limits, null, null, null, null, ...GOES_ON]);
    rows.put(OPEN_RUNS, [history, seq], [command]);
    countOpen(rows, history, 1);
    return;
  }
  const row = rows.get(POOL_RUNS, [history, event.run]);
  if (row === undefined) return;
  const [
    asked,
    branch,
    askedAt,
    by,
    notes,
    rounds,
    every,
    tokens,
    cost,
    seconds,
    round,
    begun,
    begunAt,
    runner,
    how,
  ] = row;
  // A run ends once; whoever took it may not have heard of that.
  if (how !== null) return;
  const request = [asked, branch, askedAt, by, notes, rounds, every, tokens, cost, seconds] as const;
  if (event.type === 'RunTaken') {
    const first = round === null ? ([event.round, seq, at] as const) : ([round, begun, begunAt] as const);
    rows.put(POOL_RUNS, [history, event.run], [...request, ...first, event.runner, ...GOES_ON]);
    return;
  }
  const said = actor === null ? null : (interventionIn(frame)?.notes ?? '');
  const ended = [event.how, seq, at, actor, said, event.why, event.code, event.rounds] as const;
  rows.put(POOL_RUNS, [history, event.run], [...request, round, begun, begunAt, runner, ...ended]);
  rows.remove(OPEN_RUNS, [history, asked]);
  countOpen(rows, history, -1);
};

/** A history without an open run is in no such table. */
const countOpen = (rows: Rows, history: string, more: number): void => {
  const now = (rows.get(OPEN_RUN_HISTORIES, [history])?.[0] ?? 0) + more;
  if (now === 0) rows.remove(OPEN_RUN_HISTORIES, [history]);
  else rows.put(OPEN_RUN_HISTORIES, [history], [now]);
};
