import { namedPosition } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { foldCalls } from './fold-calls.ts';
import { foldRuns } from './fold-runs.ts';
import { foldSteeredBranches } from './fold-steering.ts';
import { foldIntervention } from './fold-intervention.ts';
import {
  BRANCH_SUMMARIES,
  FRAME_SUMMARIES,
  HISTORIES,
  NAMED_POSITIONS,
  NOTES,
  OBSERVATIONS,
} from './tables.ts';

/** Writes who did what when in one frame. */
export const foldAudit = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, branchId, at, events, command, author } = frame;
  const recorder = 'recorder' in author ? author.recorder : null;
  const actor = 'actor' in author ? author.actor : null;
  rows.put(FRAME_SUMMARIES, [history, seq], [branchId, at, events.length, command, recorder, actor]);
  foldHistory(frame, rows);
  foldIntervention(frame, rows);
  foldBranch(frame, rows);
  foldCalls(frame, rows);
  foldSteeredBranches(frame, rows);
  foldRuns(frame, rows);
  events.forEach((event, index) => {
    const named = namedPosition(event);
    if (named !== null) rows.put(NAMED_POSITIONS, [history, named.name], [named.branchId, named.seq, seq]);
    else if (event.type === 'PositionAnnotated')
      rows.put(NOTES, [history, event.branchId, event.seq, seq, index], [event.note]);
  });
};

/** Observations count for the history, and for no branch. */
export const observeAudit = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, branchId, at, events, command, author } = frame;
  const actor = 'actor' in author ? author.actor : null;
  rows.put(FRAME_SUMMARIES, [history, seq], [branchId, at, events.length, command, null, actor, true]);
  foldHistory(frame, rows);
  events.forEach((event, index) => {
    if (event.type !== 'ObservationRecorded') return;
    const { kind, what, branchId: observedBranchId, times, first_at, last_at } = event;
    rows.put(
      OBSERVATIONS,
      [history, seq, index],
      [actor, kind, what, observedBranchId, event.seq, times, first_at, last_at, branchId],
    );
  });
};

const foldHistory = ({ history, seq, at, events, snapshot, started }: AppliedFrame, rows: Rows): void => {
  const newSnapshots = snapshot === null ? 0 : 1;
  const event = events.find((each) => each.type === 'HistoryStarted');
  if (event !== undefined) {
    const { name, thread, source, salvaged } = event;
    const from = [
      source?.format ?? null,
      source?.sha256 ?? null,
      salvaged?.history ?? null,
      salvaged?.seq ?? null,
    ] as const;
    rows.put(HISTORIES, [history], [name, at, at, 1, events.length, seq, newSnapshots, 1, thread, ...from]);
    return;
  }
  const row = rows.get(HISTORIES, [history]);
  if (row === undefined) return;
  const [name, startedAt, , frames, count, , snapshots, branches, ...rest] = row;
  rows.put(
    HISTORIES,
    [history],
    [
      name,
      startedAt,
      at,
      frames + 1,
      count + events.length,
      seq,
      snapshots + newSnapshots,
      branches + (started === null ? 0 : 1),
      ...rest,
    ],
  );
};

const foldBranch = (
  { history, seq, branchId, at, events, snapshot, started }: AppliedFrame,
  rows: Rows,
): void => {
  const newSnapshots = snapshot === null ? 0 : 1;
  if (started !== null) {
    const [parent, position] = started.how === 'start' ? [null, null] : [started.parent, started.at];
    const event = events.find((each) => each.type === 'BranchStarted');
    const name = event === undefined ? 'main' : event.name;
    rows.put(
      BRANCH_SUMMARIES,
      [history, branchId],
      [started.how, name, at, at, 1, events.length, seq, newSnapshots, parent, position],
    );
    if (event?.how === 'rollback') foldAbandoned(history, branchId, event.parent, event.abandoned, rows);
    return;
  }
  const row = rows.get(BRANCH_SUMMARIES, [history, branchId]);
  if (row === undefined) return;
  const [how, name, startedAt, , frames, count, , snapshots, ...rest] = row;
  rows.put(
    BRANCH_SUMMARIES,
    [history, branchId],
    [how, name, startedAt, at, frames + 1, count + events.length, seq, snapshots + newSnapshots, ...rest],
  );
};

/** The branch that a rollback leaves: its name has moved on. */
const foldAbandoned = (
  history: string,
  byBranch: number,
  abandonedBranch: number,
  name: string | null,
  rows: Rows,
): void => {
  const row = rows.get(BRANCH_SUMMARIES, [history, abandonedBranch]);
  if (row === undefined) return;
  const [how, , startedAt, newestAt, frames, events, seq, snapshots, parent, parentSeq] = row;
  rows.put(
    BRANCH_SUMMARIES,
    [history, abandonedBranch],
    [how, name, startedAt, newestAt, frames, events, seq, snapshots, parent, parentSeq, byBranch],
  );
};
