import { sha256 } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { listRows, type RowReader } from '@stemma/row-store';
import { FILE_CHANGES, WORKSPACE_SNAPSHOTS } from './tables.ts';

/** A part of a snapshot of a workspace, and the event that has it. */
export type SnapshotPartRow = {
  readonly run: string;
  readonly snapshot: number;
  readonly part: number;
  readonly parts: number;
  readonly location: EventRef;
  /** Milliseconds since 1970; `since`: when the files were looked at before; null: never. */
  readonly startedAt: number;
  readonly since: number | null;
  /** The path of its first file; null: it has none. */
  readonly first: string | null;
};

/** A file that changed: `number` in the list of the event. */
export type FileChangeRow = {
  readonly run: string;
  readonly snapshot: number;
  readonly location: EventRef;
  readonly number: number;
};

/** The snapshots of the workspace of a run that are recorded in a history, part by part, in their order. */
export const listSnapshotParts = (
  rows: RowReader,
  history: string,
  run: string,
): readonly SnapshotPartRow[] =>
  listRows(rows, WORKSPACE_SNAPSHOTS, { history, run }).map(
    ({ snapshot, part, parts, seq, index, started_at, since, first }) => ({
      ...{ run, snapshot, part, parts, since, first },
      location: { seq, index },
      startedAt: started_at,
    }),
  );

/** The changes of a file that are recorded in a history, in the order in which they were recorded. */
export const listFileChanges = (rows: RowReader, history: string, path: string): readonly FileChangeRow[] =>
  listRows(rows, FILE_CHANGES, { history, path_hash: hashOfPath(path) })
    .filter((row) => row.path === path)
    .map(({ run, snapshot, seq, index, number }) => ({ run, snapshot, number, location: { seq, index } }));

export const hashOfPath = (path: string): Uint8Array =>
  Uint8Array.from(sha256(new TextEncoder().encode(path)).subarray(0, 8));
