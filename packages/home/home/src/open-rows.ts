import { openDirectoryContents, type ContentStore } from '@stemma/contents';
import type { StemmaError } from '@stemma/errors';
import type { ContentSource, DecodedFrames, EventLog, FrameSealer } from '@stemma/log';
import { diskUsage, type DiskUsage } from '@stemma/operations';
import {
  MAIN_GROUP,
  openCommittedRows,
  openExternalProjection,
  openProjector,
  withCatchUpDeadline,
  type Group,
  type Progress,
  type Projection,
  type Projector,
} from '@stemma/projector';
import { openThreads } from '@stemma/projector-threads';
import type { RowStore } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { defined } from '@stemma/values';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** The rows and contents of a home. */
export type OpenedRows = {
  readonly contents: ContentStore;
  /** What is read. */
  readonly projection: Projection;
  /** The same for who needs rows that are not behind: it throws where `projection` answers with those there are. */
  readonly exact: Projection;
  /** Those who can build the rows anew, each a part of them. */
  readonly projectors: readonly Projector[];
  /** True if other processes fold (`stemma projector`), and this one waits for them. */
  readonly external: boolean;
  /**
   * Throws E_ROWS_BEHIND while rows that are made here, and read meanwhile, have never reached the log's end, and
   * E_ROWS_UNWRITABLE while the disk takes no more of them.
   */
  readonly checkReady: () => Promise<void>;
  readonly bytes: () => Promise<DiskUsage>;
  readonly close: () => Promise<void>;
};

/** A database for rows and contents that several machines read. */
export type SharedDatabase = {
  /** `host:port/database` */
  readonly name: string;
  readonly contents: ContentSource & ContentStore;
  readonly store: RowStore;
  readonly close: () => Promise<void>;
};

/**
 * @param address `postgres://…`
 * @param sealer the keys of erasable histories
 * @throws E_USAGE, E_DATABASE_…
 */
export const openSharedDatabase = async (address: string, sealer?: FrameSealer): Promise<SharedDatabase> => {
  // Most homes never need it, and the client takes a while to load.
  const { openDatabase, openPostgresContents, openPostgresRowStore } = await import('@stemma/postgres');
  const database = openDatabase(address);
  try {
    const store = await openPostgresRowStore(database);
    const contents = { ...(await openPostgresContents(database)), ...(sealer && { sealer }) };
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
export const openGroupProjector = (
  log: EventLog,
  { contents, store }: SharedDatabase,
  { name, models, keepFrames }: Group,
  progress?: (progress: Progress) => void,
): Projector =>
  openProjector({
    log,
    contents,
    store,
    models,
    eager: 'all',
    keepFrames,
    group: name,
    ...(progress && { progress }),
  });

/** Rows that others make, in a database. */
export const openSharedRows = async (
  address: string,
  log: EventLog,
  sealer: FrameSealer,
  catchUpTimeout?: number,
): Promise<OpenedRows> => {
  const database = await openSharedDatabase(address, sealer);
  const { contents, store, close } = database;
  const projection = openExternalProjection({
    log,
    contents,
    store,
    ...defined({ catchUpTimeout }),
  });
  return {
    contents,
    projection,
    exact: projection,
    projectors: [openGroupProjector(log, database, MAIN_GROUP)],
    external: true,
    checkReady: () => Promise.resolve(),
    bytes: async () => ({ rows: await store.bytes(), contents: null }),
    close,
  };
};

export type LocalRowsOptions = {
  readonly directory: string;
  /** The folder of the rows. */
  readonly folder: string;
  readonly keepFrames: boolean;
  /** The frames that this home writes. */
  readonly decoded?: DecodedFrames;
  /** The keys of erasable histories. */
  readonly sealer: FrameSealer;
  /** Milliseconds that a reader waits for what is folded. Default: until it is. */
  readonly catchUpTimeout?: number;
  readonly progress?: (progress: Progress) => void;
  /** Called between frames; what it returns is awaited, so that commands have a turn. */
  readonly pause: () => Promise<void> | undefined;
  /** Told when rows were found damaged and put aside, in a sentence. */
  readonly say?: (sentence: string) => void;
  /** Told of rows that are damaged, before they are thrown away and built again. */
  readonly damaged?: (damage: StemmaError) => void;
};

/** As many as there are cores: the thread of the home has little to do while they fold. On one core they would gain nothing. */
const foldingThreads = (): number => {
  const cores = availableParallelism();
  return cores === 1 ? 0 : Math.min(cores, MOST_THREADS);
};

/** More than one thread can commit the rows of. */
const MOST_THREADS = 6;

/** Frames and events that a home writes before a thread of their own folds them: to load it takes longer than to fold these. */
const SHORT_RUNS_AFTER = 800;

/** Rows of a home's own, in its directory. */
export const openLocalRows = async (
  log: EventLog,
  {
    directory,
    folder: rows,
    keepFrames,
    catchUpTimeout,
    progress,
    say,
    damaged,
    sealer,
    decoded,
    pause,
  }: LocalRowsOptions,
): Promise<OpenedRows> => {
  const contents = { ...(await openDirectoryContents(join(directory, 'contents'))), sealer };
  const store = openLmdbRowStore({ directory: rows, ...(say && { say }) });
  let closed = false;
  const stop = (): boolean => closed;
  const projector = openProjector({
    log,
    contents,
    store,
    ...(decoded && { decoded }),
    keepFrames,
    // A commit of rows holds up the commands that come meanwhile; larger ones are not faster.
    limits: { rows: 2_000 },
    ...(foldingThreads() > 0 && {
      runPartition: openThreads({ workers: { count: foldingThreads() }, shortRunsAfter: SHORT_RUNS_AFTER }),
    }),
    stop,
    pause,
    ...(progress && { progress }),
    ...(damaged && { damaged }),
    ...defined({ repairTimeout: catchUpTimeout }),
  });
  const withDeadline =
    catchUpTimeout === undefined ? undefined : withCatchUpDeadline(log, projector, catchUpTimeout);
  const exact = withDeadline?.projection ?? projector;
  const committed = openCommittedRows(exact, log.partitions, say ?? (() => undefined));
  return {
    contents,
    projection: committed.projection,
    exact,
    projectors: [projector],
    external: false,
    checkReady: async () => {
      await committed.check();
      await withDeadline?.checkReady();
    },
    bytes: async () => ({
      rows: diskUsage(rows),
      contents: diskUsage(join(directory, 'contents')),
    }),
    close: async () => {
      closed = true;
      await withDeadline?.idle();
      await projector.close();
      await store.close();
      await contents.close();
    },
  };
};
