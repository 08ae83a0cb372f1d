import { fail } from '@stemma/errors';
import type { Author, BranchPosition } from '@stemma/events';
import { findRow, listRows, type NamedRow, type RowReader } from '@stemma/row-store';
import { defined } from '@stemma/values';
import { BRANCH_SUMMARIES, FRAME_SUMMARIES, HISTORIES, LABELS, NAMED_POSITIONS, NOTES } from './tables.ts';

export type HistoryRow = {
  readonly history: string;
  readonly name: string | null;
  readonly startedAt: bigint;
  readonly newestAt: bigint;
  readonly frames: number;
  readonly events: number;
  /** The newest frame. */
  readonly seq: number;
  /** Of all branches together. */
  readonly snapshots: number;
  readonly branches: number;
  readonly thread: 'full' | 'pre';
  readonly source: { readonly format: string; readonly sha256: string } | null;
  readonly salvaged: { readonly history: string; readonly seq: number } | null;
};

export type BranchRow = {
  readonly branchId: number;
  readonly how: 'start' | 'fork' | 'rollback';
  /** The name people use; null for a branch that has only its id. */
  readonly name: string | null;
  readonly startedAt: bigint;
  readonly newestAt: bigint;
  readonly frames: number;
  readonly events: number;
  readonly seq: number;
  /** Its own, not counting its ancestors'. */
  readonly snapshots: number;
  readonly parent: BranchPosition | null;
  /** The branch that a rollback started instead. */
  readonly abandonedBy: number | null;
};

export type FrameSummary = {
  readonly seq: number;
  readonly branchId: number;
  readonly at: bigint;
  readonly events: number;
  readonly command: string;
  readonly recorder: string | null;
  readonly actor: string | null;
  /** It holds observations, and is not on the branch that was looked at. */
  readonly observed: boolean;
};

export type NamedPositionRow = {
  readonly name: string;
  readonly branchId: number;
  readonly position: number;
  readonly seq: number;
};
export type LabelRow = { readonly label: string; readonly value: string };
export type NoteRow = {
  readonly branchId: number;
  readonly position: number;
  readonly seq: number;
  readonly note: string;
};

/** Histories by id; `after` for the next page. */
export const listHistories = (
  rows: RowReader,
  { after, limit }: { after?: string; limit?: number } = {},
): readonly HistoryRow[] => {
  const from = after === undefined ? {} : { from: `${after}\u0000` };
  return listRows(rows, HISTORIES, {}, { ...from, ...defined({ limit }) }).map(historyOf);
};

export const findHistory = (rows: RowReader, history: string): HistoryRow | undefined => {
  const row = findRow(rows, HISTORIES, { history });
  return row && historyOf(row);
};

/**
 * The branches of a history in the order in which they were started.
 *
 * @throws E_ROWS_DAMAGED if there are not as many as the history counts
 */
export const listBranches = (rows: RowReader, history: string): readonly BranchRow[] => {
  const found = listRows(rows, BRANCH_SUMMARIES, { history }).map(branchOf);
  const branches = findRow(rows, HISTORIES, { history })?.branches ?? 0;
  if (found.length !== branches)
    throw fail(
      'E_ROWS_DAMAGED',
      `the rows of ${history} have ${found.length} branches, and say ${branches}`,
      { history },
    );
  return found;
};

/** The newest branches of a history, the one that was started last first. */
export const listNewestBranches = (rows: RowReader, history: string, limit: number): readonly BranchRow[] =>
  listRows(rows, BRANCH_SUMMARIES, { history }, { reverse: true, limit }).map(branchOf);

export const findBranch = (rows: RowReader, history: string, branchId: number): BranchRow | undefined => {
  const row = findRow(rows, BRANCH_SUMMARIES, { history, branch_id: branchId });
  return row && branchOf(row);
};

/**
 * The frames of a history from `from` on, before `to`.
 *
 * @throws E_ROWS_DAMAGED if one of them is missing: frames are numbered without gaps
 */
export const listFrameSummaries = (
  rows: RowReader,
  history: string,
  { from = 0, ...rest }: { from?: number; to?: number; limit?: number } = {},
): readonly FrameSummary[] => {
  const found = listRows(rows, FRAME_SUMMARIES, { history }, { from, ...rest }).map(frameSummaryOf);
  const { to = Infinity, limit = Infinity } = rest;
  const wanted = Math.min(to - from, limit);
  if (found.length >= wanted) return found;
  const newest = findRow(rows, HISTORIES, { history })?.seq;
  if (newest !== undefined && found.length !== Math.max(0, Math.min(wanted, newest + 1 - from)))
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack the summary of a frame from ${from} on`, {
      history,
    });
  return found;
};

/** Who wrote a frame, when, in which branch. @throws E_SNAPSHOT_NOT_FOUND */
export const findFrameSummary = (rows: RowReader, history: string, seq: number): FrameSummary => {
  const row = findRow(rows, FRAME_SUMMARIES, { history, seq });
  if (row === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `the history ${history} has no frame ${seq}`, { history, seq });
  return frameSummaryOf(row);
};

/** The named positions of a history, by name. */
export const listNamedPositions = (rows: RowReader, history: string): readonly NamedPositionRow[] =>
  listRows(rows, NAMED_POSITIONS, { history }).map(({ name, branch_id, position, seq }) => ({
    name,
    branchId: branch_id,
    position,
    seq,
  }));

/** The labels of a history, by their keys. */
export const listLabels = (rows: RowReader, history: string): readonly LabelRow[] =>
  listRows(rows, LABELS, { history }).map(({ label, value }) => ({ label, value }));

/** The notes to positions of a history, by position, then in the order they were written. */
export const listNotes = (rows: RowReader, history: string): readonly NoteRow[] =>
  listRows(rows, NOTES, { history }).map(noteOf);

/** The notes to one position, in the order they were written. */
export const listNotesAt = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
): readonly NoteRow[] => listRows(rows, NOTES, { history, branch_id: branchId, position: seq }).map(noteOf);

const noteOf = ({ branch_id, position, seq, note }: NamedRow<typeof NOTES>): NoteRow => ({
  branchId: branch_id,
  position,
  seq,
  note,
});

const historyOf = (row: NamedRow<typeof HISTORIES>): HistoryRow => ({
  history: row.history,
  name: row.name,
  startedAt: row.started_at,
  newestAt: row.newest_at,
  frames: row.frames,
  events: row.events,
  seq: row.seq,
  snapshots: row.snapshots,
  branches: row.branches,
  thread: row.thread === 'pre' ? 'pre' : 'full',
  source: row.format === null ? null : { format: row.format, sha256: row.source as string },
  salvaged:
    row.salvaged_history === null ? null : { history: row.salvaged_history, seq: row.salvaged_seq as number },
});

const branchOf = (row: NamedRow<typeof BRANCH_SUMMARIES>): BranchRow => ({
  branchId: row.branch_id,
  how: row.how as BranchRow['how'],
  name: row.name,
  startedAt: row.started_at,
  newestAt: row.newest_at,
  frames: row.frames,
  events: row.events,
  seq: row.seq,
  snapshots: row.snapshots,
  parent: row.parent === null ? null : { branchId: row.parent, seq: row.parent_seq as number },
  abandonedBy: row.abandoned_by,
});

const frameSummaryOf = (row: NamedRow<typeof FRAME_SUMMARIES>): FrameSummary => ({
  seq: row.seq,
  branchId: row.branch_id,
  at: row.at,
  events: row.events,
  command: row.command,
  recorder: row.recorder,
  actor: row.actor,
  observed: row.observed === true,
});

/** Who wrote a frame. */
export const authorOf = ({ recorder, actor }: Pick<FrameSummary, 'recorder' | 'actor'>): Author =>
  actor === null ? { recorder: recorder ?? '' } : { actor };
