import { openDirectoryContents, type ContentStore } from '@stemma/contents';
import type { EventLog } from '@stemma/log';
import {
  GROUPS,
  openProjector,
  openRowsElsewhere,
  type Group,
  type Progress,
  type Projector,
  type ServedRows,
} from '@stemma/projector';
import type { RowStore } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { join } from 'node:path';
import { bytesIn } from './bytes-in.ts';

/** The rows and contents of a home. */
export type OpenedRows = {
  readonly contents: ContentStore;
  /** What is read. */
  readonly served: ServedRows;
  /** Those who can build the rows anew, each a part of them. */
  readonly projectors: readonly Projector[];
  /** True if other processes fold (`stemma projector`), and this one waits for them. */
  readonly elsewhere: boolean;
  /** Bytes that rows take, and contents; null where nobody counts them. */
  readonly bytes: () => Promise<{ readonly rows: number; readonly contents: number | null }>;
  readonly close: () => Promise<void>;
};

/** A database for rows and contents that several machines read. */
export type Shared = {
  /** `host:port/database` */
  readonly name: string;
  readonly contents: ContentStore;
  readonly store: RowStore;
  readonly close: () => Promise<void>;
};

/** @param address `postgres://…` @throws E_USAGE, E_DATABASE_… */
export const openShared = async (address: string): Promise<Shared> => {
  // Most homes never need it, and the client takes a while to load.
  const [{ openDatabase }, { openPostgresContents }, { openPostgresRowStore }] = await Promise.all([
    import('@stemma/postgres'),
    import('@stemma/contents-postgres'),
    import('@stemma/row-store-postgres'),
  ]);
  const database = openDatabase(address);
  try {
    const store = await openPostgresRowStore(database);
    const contents = await openPostgresContents(database);
    const close = async (): Promise<void> => {
      await store.close();
      await contents.close();
      await database.close();
    };
    return { name: database.name, contents, store, close };
  } catch (error) {
    await database.close();
    throw error;
  }
};

/** The projector of one group on shared rows. */
export const projectorOf = (
  log: EventLog,
  { contents, store }: Shared,
  { name, models, keepFrames }: Group,
  progress?: (progress: Progress) => void,
): Projector =>
  openProjector({ log, contents, store, models, keepFrames, group: name, ...(progress && { progress }) });

/** Rows that others make, in a database. */
export const openRowsIn = async (address: string, log: EventLog): Promise<OpenedRows> => {
  const shared = await openShared(address);
  const { contents, store, close } = shared;
  return {
    contents,
    served: openRowsElsewhere({ log, contents, store }),
    projectors: GROUPS.map((group) => projectorOf(log, shared, group)),
    elsewhere: true,
    bytes: async () => ({ rows: await store.bytes(), contents: null }),
    close,
  };
};

export type OwnRows = {
  readonly directory: string;
  /** The folder in it. */
  readonly rows: string;
  readonly keepFrames: boolean;
  readonly progress?: (progress: Progress) => void;
};

/** Rows of a home's own, in its directory. */
export const openOwnRows = async (
  log: EventLog,
  { directory, rows, keepFrames, progress }: OwnRows,
): Promise<OpenedRows> => {
  const contents = await openDirectoryContents(join(directory, 'contents'));
  const store = openLmdbRowStore({ directory: join(directory, rows) });
  const projector = openProjector({ log, contents, store, keepFrames, ...(progress && { progress }) });
  return {
    contents,
    served: projector,
    projectors: [projector],
    elsewhere: false,
    bytes: async () => ({
      rows: bytesIn(join(directory, rows)),
      contents: bytesIn(join(directory, 'contents')),
    }),
    close: async () => {
      await store.close();
      await contents.close();
    },
  };
};
