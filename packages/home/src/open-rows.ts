import { openDirectoryContents, type ContentStore } from '@stemma/contents';
import type { EventLog } from '@stemma/log';
import { bytesIn, type DiskUsage } from '@stemma/operations';
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
import { patientRows } from './patient-rows.ts';

/** The rows and contents of a home. */
export type OpenedRows = {
  readonly contents: ContentStore;
  /** What is read. */
  readonly served: ServedRows;
  /** Those who can build the rows anew, each a part of them. */
  readonly projectors: readonly Projector[];
  /** True if other processes fold (`stemma projector`), and this one waits for them. */
  readonly elsewhere: boolean;
  /** Throws E_ROWS_BEHIND while rows that are made here, and read meanwhile, have never reached the log's end. */
  readonly begun: () => Promise<void>;
  readonly bytes: () => Promise<DiskUsage>;
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
  { name, model, primary }: Group,
  progress?: (progress: Progress) => void,
): Projector =>
  openProjector({
    log,
    contents,
    store,
    models: [model],
    keepFrames: primary,
    group: name,
    ...(progress && { progress }),
  });

/** Rows that others make, in a database. */
export const openRowsIn = async (address: string, log: EventLog, patience?: number): Promise<OpenedRows> => {
  const shared = await openShared(address);
  const { contents, store, close } = shared;
  return {
    contents,
    served: openRowsElsewhere({ log, contents, store, ...(patience !== undefined && { patience }) }),
    projectors: GROUPS.map((group) => projectorOf(log, shared, group)),
    elsewhere: true,
    begun: () => Promise.resolve(),
    bytes: async () => ({ rows: await store.bytes(), contents: null }),
    close,
  };
};

export type OwnRows = {
  readonly directory: string;
  /** The folder in it. */
  readonly rows: string;
  readonly keepFrames: boolean;
  /** Milliseconds that a reader waits for what is folded. Default: until it is. */
  readonly patience?: number;
  readonly progress?: (progress: Progress) => void;
};

/** Rows of a home's own, in its directory. */
export const openOwnRows = async (
  log: EventLog,
  { directory, rows, keepFrames, patience, progress }: OwnRows,
): Promise<OpenedRows> => {
  const contents = await openDirectoryContents(join(directory, 'contents'));
  const store = openLmdbRowStore({ directory: join(directory, rows) });
  let closed = false;
  const stop = (): boolean => closed;
  const projector = openProjector({ log, contents, store, keepFrames, stop, ...(progress && { progress }) });
  const patient = patience === undefined ? undefined : patientRows(log, projector, patience);
  return {
    contents,
    served: patient?.served ?? projector,
    projectors: [projector],
    elsewhere: false,
    begun: async () => patient?.begun(),
    bytes: async () => ({
      rows: bytesIn(join(directory, rows)),
      contents: bytesIn(join(directory, 'contents')),
    }),
    close: async () => {
      closed = true;
      await patient?.idle();
      await store.close();
      await contents.close();
    },
  };
};
