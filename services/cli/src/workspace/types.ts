import type { FileContents, RecordedFileState } from '@stemma/events';

/** What of a workspace is looked at, and kept. */
export type WorkspaceLimits = {
  /** The most files. */
  readonly files: number;
  /** The most bytes of a file that are read for its hash, and of one that are kept. */
  readonly hashed: number;
  readonly kept: number;
  /** The most bytes that are kept in all. */
  readonly total: number;
};

export const WORKSPACE_LIMITS: WorkspaceLimits = {
  files: 20_000,
  hashed: 64 * 1024 * 1024,
  kept: 1024 * 1024,
  total: 64 * 1024 * 1024,
};

/** A directory whose files are recorded. */
export type Workspace = {
  /** Without symbolic links. */
  readonly root: string;
  /** The directory of the home, which is left out. */
  readonly home: string;
  /** A git directory of Stemma's own, for a workspace that is in no repository. */
  readonly gitDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits: WorkspaceLimits;
};

/** A file that was found. */
export type FoundFile = { readonly state: RecordedFileState; readonly contents: FileContents };

/** A file that is another than in the snapshot before. Null: it was not there, or is not there any more. */
export type ChangedFile = {
  readonly path: string;
  readonly before: RecordedFileState | null;
  readonly after: FoundFile | null;
};

/** What a snapshot found. Times are milliseconds since 1970. */
export type WorkspaceSnapshot = {
  readonly startedAt: number;
  readonly endedAt: number;
  /** When the one before began; null: it is the first. */
  readonly since: number | null;
  /** By path, in the order of code points. Of the first snapshot: all files. */
  readonly files: readonly ChangedFile[];
  /** Folders with repositories of their own. */
  readonly repositories: readonly string[];
  /** Files that were not looked at: there are too many, or their names are no UTF-8. */
  readonly left: number;
};

/** What a thread found in all, with the bytes that it kept, by their hashes. */
export type TakenSnapshots = {
  readonly snapshots: readonly WorkspaceSnapshot[];
  readonly bytes: ReadonlyMap<string, Uint8Array>;
};

export type ToWorkspace = { readonly kind: 'snapshot' } | { readonly kind: 'end' };
export type FromWorkspace =
  | { readonly kind: 'taken'; readonly snapshot: Omit<WorkspaceSnapshot, 'files'>; readonly files: number }
  | { readonly kind: 'ended'; readonly taken: TakenSnapshots };
