import { fail } from '@stemma/errors';
import type { Author, BranchPosition } from '@stemma/events';
import type { RowOf, RowReader } from '@stemma/row-store';
import { BRANCH_SUMMARIES, FRAME_SUMMARIES, HISTORIES, NAMED_POSITIONS, NOTES } from './tables.ts';

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
  return rows
    .range(HISTORIES, { prefix: [], ...from, ...(limit === undefined ? {} : { limit }) })
    .map(historyOf);
};

export const findHistory = (rows: RowReader, history: string): HistoryRow | undefined => {
  const value = rows.get(HISTORIES, [history]);
  return value && historyOf({ key: [history], value });
};

/**
 * The branches of a history in the order in which they were started.
 *
 * @throws E_ROWS_DAMAGED if there are not as many as the history counts
 */
export const listBranches = (rows: RowReader, history: string): readonly BranchRow[] => {
  const found = rows.range(BRANCH_SUMMARIES, { prefix: [history] }).map(branchOf);
  const branches = (rows.get(HISTORIES, [history])?.[BRANCHES_OF_HISTORY] ?? 0) as number;
  if (found.length !== branches)
    throw fail(
      'E_ROWS_DAMAGED',
      `the rows of ${history} have ${found.length} branches, and say ${branches}`,
      { history },
    );
  return found;
};

/** The column of `histories` that counts them. */
const BRANCHES_OF_HISTORY = HISTORIES.value.findIndex(([name]) => name === 'branches');

export const findBranch = (rows: RowReader, history: string, branchId: number): BranchRow | undefined => {
  const value = rows.get(BRANCH_SUMMARIES, [history, branchId]);
  return value && branchOf({ key: [history, branchId], value });
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
  const found = rows.range(FRAME_SUMMARIES, { prefix: [history], from, ...rest }).map(frameSummaryOf);
  const { to = Infinity, limit = Infinity } = rest;
  const wanted = Math.min(to - from, limit);
  if (found.length >= wanted) return found;
  const newest = rows.get(HISTORIES, [history])?.[NEWEST_OF_HISTORY] as number | undefined;
  if (newest !== undefined && found.length !== Math.max(0, Math.min(wanted, newest + 1 - from)))
    throw fail('E_ROWS_DAMAGED', `the rows of ${history} lack the summary of a frame from ${from} on`, {
      history,
    });
  return found;
};

/** The column of `histories` with the newest frame. */
const NEWEST_OF_HISTORY = HISTORIES.value.findIndex(([name]) => name === 'seq');

/** Who wrote a frame, when, in which branch. @throws E_SNAPSHOT_NOT_FOUND */
export const findFrameSummary = (rows: RowReader, history: string, seq: number): FrameSummary => {
  const value = rows.get(FRAME_SUMMARIES, [history, seq]);
  if (value === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `the history ${history} has no frame ${seq}`, { history, seq });
  return frameSummaryOf({ key: [history, seq], value });
};

/** The named positions of a history, by name. */
export const listNamedPositions = (rows: RowReader, history: string): readonly NamedPositionRow[] =>
  rows.range(NAMED_POSITIONS, { prefix: [history] }).map(({ key, value }) => ({
    name: key[1],
    branchId: value[0],
    position: value[1],
    seq: value[2],
  }));

/** The notes to positions of a history, by position, then in the order they were written. */
export const listNotes = (rows: RowReader, history: string): readonly NoteRow[] =>
  rows.range(NOTES, { prefix: [history] }).map(noteOf);

/** The notes to one position, in the order they were written. */
export const listNotesAt = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
): readonly NoteRow[] => rows.range(NOTES, { prefix: [history, branchId, seq] }).map(noteOf);

const noteOf = ({ key, value }: RowOf<typeof NOTES>): NoteRow => ({
  branchId: key[1],
  position: key[2],
  seq: key[3],
  note: value[0],
});

const historyOf = ({ key, value }: RowOf<typeof HISTORIES>): HistoryRow => {
  const [
    name,
    startedAt,
    newestAt,
    frames,
    events,
    seq,
    snapshots,
    branches,
    thread,
    format,
    source,
    salvaged,
    salvagedSeq,
  ] = value;
  return {
    history: key[0],
    name,
    startedAt,
    newestAt,
    frames,
    events,
    seq,
    snapshots,
    branches,
    thread: thread === 'pre' ? 'pre' : 'full',
    source: format === null ? null : { format, sha256: source as string },
    salvaged: salvaged === null ? null : { history: salvaged, seq: salvagedSeq as number },
  };
};

const branchOf = ({ key, value }: RowOf<typeof BRANCH_SUMMARIES>): BranchRow => {
  const [how, name, startedAt, newestAt, frames, events, seq, snapshots, parent, parentSeq, abandonedBy] =
    value;
  return {
    branchId: key[1],
    how: how as BranchRow['how'],
    name,
    startedAt,
    newestAt,
    frames,
    events,
    seq,
    snapshots,
    parent: parent === null ? null : { branchId: parent, seq: parentSeq as number },
    abandonedBy,
  };
};

const frameSummaryOf = ({ key, value }: RowOf<typeof FRAME_SUMMARIES>): FrameSummary => {
  const [branchId, at, events, command, recorder, actor, observed] = value;
  return {
    seq: key[1],
    branchId,
    at,
    events,
    command,
    recorder,
    actor,
    observed: observed === true,
  };
};

/** Who wrote a frame. */
export const authorOf = ({ recorder, actor }: Pick<FrameSummary, 'recorder' | 'actor'>): Author =>
  actor === null ? { recorder: recorder ?? '' } : { actor };
