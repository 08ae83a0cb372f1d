import { namedPosition } from '@stemma/events';
import type { AppliedFrame } from '@stemma/history';
import { findRow, putRow, removeRow, type Rows } from '@stemma/row-store';
import { BRANCH_SUMMARIES, FRAME_SUMMARIES, HISTORIES, LABELS, NAMED_POSITIONS, NOTES } from './tables.ts';

/** Writes who recorded a frame, when, and by which command. */
export const noteFrame = (frame: AppliedFrame, rows: Rows): void => {
  const { history, seq, branchId, at, events, command, author, observed } = frame;
  putRow(rows, FRAME_SUMMARIES, {
    history,
    seq,
    branch_id: branchId,
    at,
    events: events.length,
    command,
    recorder: !observed && 'recorder' in author ? author.recorder : null,
    actor: 'actor' in author ? author.actor : null,
    observed: observed ? true : null,
  });
};

/** Counts a frame for its history. */
export const countHistory = (
  { history, seq, at, events, snapshot, started }: AppliedFrame,
  rows: Rows,
): void => {
  const newSnapshots = snapshot === null ? 0 : 1;
  const event = events.find((each) => each.type === 'HistoryStarted');
  if (event !== undefined) {
    const { name, thread, source, salvaged } = event;
    putRow(rows, HISTORIES, {
      history,
      name,
      started_at: at,
      newest_at: at,
      frames: 1,
      events: events.length,
      seq,
      snapshots: newSnapshots,
      branches: 1,
      thread,
      format: source?.format ?? null,
      source: source?.sha256 ?? null,
      salvaged_history: salvaged?.history ?? null,
      salvaged_seq: salvaged?.seq ?? null,
    });
    return;
  }
  const row = findRow(rows, HISTORIES, { history });
  if (row === undefined) return;
  putRow(rows, HISTORIES, {
    ...row,
    newest_at: at,
    frames: row.frames + 1,
    events: row.events + events.length,
    seq,
    snapshots: row.snapshots + newSnapshots,
    branches: row.branches + (started === null ? 0 : 1),
  });
};

/** Counts a frame for its branch, which it may start. */
export const countBranch = (
  { history, seq, branchId, at, events, snapshot, started }: AppliedFrame,
  rows: Rows,
): void => {
  const newSnapshots = snapshot === null ? 0 : 1;
  if (started !== null) {
    const event = events.find((each) => each.type === 'BranchStarted');
    putRow(rows, BRANCH_SUMMARIES, {
      history,
      branch_id: branchId,
      how: started.how,
      name: event === undefined ? 'main' : event.name,
      started_at: at,
      newest_at: at,
      frames: 1,
      events: events.length,
      seq,
      snapshots: newSnapshots,
      parent: started.how === 'start' ? null : started.parent,
      parent_seq: started.how === 'start' ? null : started.at,
    });
    if (event?.how === 'rollback') noteAbandoned(history, branchId, event.parent, event.abandoned, rows);
    return;
  }
  const row = findRow(rows, BRANCH_SUMMARIES, { history, branch_id: branchId });
  if (row === undefined) return;
  putRow(rows, BRANCH_SUMMARIES, {
    ...row,
    newest_at: at,
    frames: row.frames + 1,
    events: row.events + events.length,
    seq,
    snapshots: row.snapshots + newSnapshots,
  });
};

/** The branch that a rollback leaves: its name has moved on. */
const noteAbandoned = (
  history: string,
  byBranch: number,
  abandonedBranch: number,
  name: string | null,
  rows: Rows,
): void => {
  const row = findRow(rows, BRANCH_SUMMARIES, { history, branch_id: abandonedBranch });
  if (row !== undefined) putRow(rows, BRANCH_SUMMARIES, { ...row, name, abandoned_by: byBranch });
};

/** Writes which positions a frame names, and the notes that it adds. */
export const notePositions = ({ history, seq, events }: AppliedFrame, rows: Rows): void => {
  events.forEach((event, index) => {
    const named = namedPosition(event);
    if (named !== null)
      putRow(rows, NAMED_POSITIONS, {
        history,
        name: named.name,
        branch_id: named.branchId,
        position: named.seq,
        seq,
      });
    else if (event.type === 'PositionAnnotated')
      putRow(rows, NOTES, {
        history,
        branch_id: event.branchId,
        position: event.seq,
        seq,
        index,
        note: event.note,
      });
  });
};

/** Writes the labels that a frame gives a history, and deletes those that it takes away. */
export const noteLabels = ({ history, seq, events }: AppliedFrame, rows: Rows): void => {
  for (const event of events)
    if (event.type === 'HistoryLabelled') {
      const { label, value } = event;
      if (value === null) removeRow(rows, LABELS, { history, label });
      else putRow(rows, LABELS, { history, label, value, seq });
    }
};
