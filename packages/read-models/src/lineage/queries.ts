import { fail } from '@stemma/errors';
import type { Author } from '@stemma/events';
import type { Row, RowReader } from '@stemma/row-store';
import { ACTS, COMMITS, HISTORIES, LINEAGES, NAMED, NOTES } from './tables.ts';

export type HistoryRow = {
  readonly history: string;
  readonly name: string | null;
  readonly startedAt: bigint;
  readonly newestAt: bigint;
  readonly frames: number;
  readonly events: number;
  /** The newest frame. */
  readonly seq: number;
  /** Of all lineages together. */
  readonly snapshots: number;
  readonly thread: 'full' | 'pre';
  readonly source: { readonly format: string; readonly sha256: string } | null;
  readonly salvaged: { readonly history: string; readonly seq: number } | null;
};

export type LineageRow = {
  readonly strand: number;
  readonly how: 'start' | 'fork' | 'rollback';
  /** The name people use; null for a lineage that has only its id. */
  readonly name: string | null;
  readonly startedAt: bigint;
  readonly newestAt: bigint;
  readonly frames: number;
  readonly events: number;
  readonly seq: number;
  /** Its own, without its ancestors'. */
  readonly snapshots: number;
  readonly parent: { readonly strand: number; readonly seq: number } | null;
  /** The lineage that a rollback went on with instead. */
  readonly leftBy: number | null;
};

export type Act = {
  readonly seq: number;
  readonly strand: number;
  readonly at: bigint;
  readonly events: number;
  readonly command: string;
  readonly recorder: string | null;
  readonly actor: string | null;
  /** It holds observations, and lies outside of the lineage that was looked at. */
  readonly observed: boolean;
};

export type CommitRow = {
  readonly strand: number;
  readonly cycle: number;
  readonly seq: number;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
  readonly treeHash: Uint8Array;
  readonly threadHash: Uint8Array;
  readonly imported: boolean;
};

export type NamedRow = {
  readonly name: string;
  readonly strand: number;
  readonly position: number;
  readonly seq: number;
};
export type NoteRow = {
  readonly strand: number;
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

/** The lineages of a history in the order in which they were started. */
export const listLineages = (rows: RowReader, history: string): readonly LineageRow[] =>
  rows.range(LINEAGES, { prefix: [history] }).map(lineageOf);

export const findLineage = (rows: RowReader, history: string, strand: number): LineageRow | undefined => {
  const value = rows.get(LINEAGES, [history, strand]);
  return value && lineageOf({ key: [history, strand], value });
};

/** The frames of a history from `from` on, up to `to`. */
export const listActs = (
  rows: RowReader,
  history: string,
  { from = 0, ...rest }: { from?: number; to?: number; limit?: number } = {},
): readonly Act[] => rows.range(ACTS, { prefix: [history], from, ...rest }).map(actOf);

/** Who wrote a frame, when, in which lineage. @throws E_SNAPSHOT_NOT_FOUND */
export const findAct = (rows: RowReader, history: string, seq: number): Act => {
  const value = rows.get(ACTS, [history, seq]);
  if (value === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `the history ${history} has no frame ${seq}`, { history, seq });
  return actOf({ key: [history, seq], value });
};

/** The snapshots that a lineage made itself, oldest first. */
export const listCommits = (rows: RowReader, history: string, strand: number): readonly CommitRow[] =>
  rows.range(COMMITS, { prefix: [history, strand] }).map(({ key, value }) => ({
    strand: key[1] as number,
    cycle: key[2] as number,
    seq: value[0] as number,
    nodes: value[1] as number,
    blocks: value[2] as number,
    turns: value[3] as number,
    treeHash: value[4] as Uint8Array,
    threadHash: value[5] as Uint8Array,
    imported: value[6] === true,
  }));

/** The named positions of a history, by name. */
export const listNames = (rows: RowReader, history: string): readonly NamedRow[] =>
  rows.range(NAMED, { prefix: [history] }).map(({ key, value }) => ({
    name: key[1] as string,
    strand: value[0] as number,
    position: value[1] as number,
    seq: value[2] as number,
  }));

/** The notes to positions of a history, by position, then in the order they were written. */
export const listNotes = (rows: RowReader, history: string): readonly NoteRow[] =>
  rows.range(NOTES, { prefix: [history] }).map(noteOf);

/** The notes to one position, in the order they were written. */
export const listNotesAt = (
  rows: RowReader,
  history: string,
  { strand, seq }: { readonly strand: number; readonly seq: number },
): readonly NoteRow[] => rows.range(NOTES, { prefix: [history, strand, seq] }).map(noteOf);

const noteOf = ({ key, value }: Row): NoteRow => ({
  strand: key[1] as number,
  position: key[2] as number,
  seq: key[3] as number,
  note: value[0] as string,
});

const historyOf = ({ key, value }: Row): HistoryRow => {
  const [
    name,
    startedAt,
    newestAt,
    frames,
    events,
    seq,
    snapshots,
    thread,
    format,
    source,
    salvaged,
    salvagedSeq,
  ] = value;
  return {
    history: key[0] as string,
    name: name as string | null,
    startedAt: startedAt as bigint,
    newestAt: newestAt as bigint,
    frames: frames as number,
    events: events as number,
    seq: seq as number,
    snapshots: snapshots as number,
    thread: thread === 'pre' ? 'pre' : 'full',
    source: format === null ? null : { format: format as string, sha256: source as string },
    salvaged: salvaged === null ? null : { history: salvaged as string, seq: salvagedSeq as number },
  };
};

const lineageOf = ({ key, value }: Row): LineageRow => {
  const [how, name, startedAt, newestAt, frames, events, seq, snapshots, parent, parentSeq, leftBy] = value;
  return {
    strand: key[1] as number,
    how: how as LineageRow['how'],
    name: name as string | null,
    startedAt: startedAt as bigint,
    newestAt: newestAt as bigint,
    frames: frames as number,
    events: events as number,
    seq: seq as number,
    snapshots: snapshots as number,
    parent: parent === null ? null : { strand: parent as number, seq: parentSeq as number },
    leftBy: leftBy as number | null,
  };
};

const actOf = ({ key, value }: Row): Act => {
  const [strand, at, events, command, recorder, actor, observed] = value;
  return {
    seq: key[1] as number,
    strand: strand as number,
    at: at as bigint,
    events: events as number,
    command: command as string,
    recorder: recorder as string | null,
    actor: actor as string | null,
    observed: observed === true,
  };
};

/** Who wrote a frame. */
export const authorOf = ({ recorder, actor }: Pick<Act, 'recorder' | 'actor'>): Author =>
  actor === null ? { recorder: recorder ?? '' } : { actor };
