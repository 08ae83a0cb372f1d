import { openCommandHandler, recordCall, type Observe } from '@stemma/command-handler';
import type { Position, TreeView } from '@stemma/history-store';
import {
  acknowledge,
  examine,
  exportExperiment,
  openLogOf,
  partitionsOf,
  replayRows,
  runExperiment,
  salvageLine,
  statsOf,
  verifyHome,
  type OpenedLog,
} from '@stemma/operations';
import {
  allHistories,
  auditOf,
  causesOf,
  diffPositions,
  eventsAbout,
  followFrom,
  followLog,
  frameEvents,
  lineagesOf,
  oneHistory,
  openStages,
  openTreeLoader,
  positionOf,
  questionsOf,
  selectIds,
  selectRange,
  servedLine,
  servedPosition,
  snapshotsOf,
  treeAt,
  viewOf,
  type LoggedEvent,
} from '@stemma/queries';
import { listActs } from '@stemma/read-models';
import { resolve } from 'node:path';
import { openBackground } from './background.ts';
import type { Home } from './home.ts';
import { openOwnRows, openRowsIn } from './open-rows.ts';
import type { Parts } from './parts.ts';
import { yieldingLog } from './yielding-log.ts';

export type HomeOptions = {
  readonly directory: string;
  /** Make it if it is not there. Default false. */
  readonly create?: boolean;
  /** `kafka://HOST:PORT/PREFIX`: its log is there, contents and rows stay in the directory. Default: all in the directory. */
  readonly log?: string;
  /** `postgres://…`: rows and contents are there, and other processes make the rows. Default: in the directory. */
  readonly rows?: string;
  /**
   * Milliseconds that a question waits for rows that are behind the log before it is refused with E_ROWS_BEHIND; rows of its
   * own are then folded from the beginning, whoever asks. Default: 10,000 with rows in a database, else without end.
   */
  readonly patience?: number;
  /** Nanoseconds since 1970. Default: the machine's clock. */
  readonly clock?: () => bigint;
  /** Told what is written and folded. */
  readonly observe?: Observe;
};

/**
 * Opens the Stemma in a directory: log, contents and rows side by side. Several processes may have it open.
 *
 * @throws E_HOME_NOT_FOUND if there is none and `create` is not set; E_LOG_BUSY, E_IO; with a log on Kafka
 *   E_BROKERS_UNREACHABLE, E_LOG_NOT_FOUND, E_LOG_MISMATCH; with rows in a database E_DATABASE_….
 */
export const openHome = async (options: HomeOptions): Promise<Home> => {
  const directory = resolve(options.directory);
  const { log: address, rows } = options;
  const place = { directory, create: options.create === true, shared: rows !== undefined };
  const opened = await openLogOf(address === undefined ? place : { ...place, address });
  try {
    return homeOf(await openParts(directory, opened, options));
  } catch (error) {
    await opened.log.close();
    throw error;
  }
};

const machineClock = (): bigint => BigInt(Date.now()) * 1_000_000n;

const openParts = async (
  directory: string,
  place: OpenedLog,
  { rows, patience, clock = machineClock, observe }: HomeOptions,
): Promise<Parts> => {
  const log = yieldingLog(place.log, () => performance.now());
  const opened = await (rows === undefined
    ? openOwnRows(log, {
        directory,
        ...place,
        ...(patience !== undefined && { patience }),
        ...(observe && { progress: observe.folded }),
      })
    : openRowsIn(rows, log, patience));
  const { contents, served: projector, projectors, bytes } = opened;
  const background = openBackground(() => (opened.elsewhere ? Promise.resolve() : projector.catchUp()));
  const handler = openCommandHandler({
    log,
    contents,
    rows: projector,
    clock,
    accepted: background.wake,
    ...(observe && { observe }),
  });
  return {
    directory,
    place: place.place,
    log,
    contents,
    projector,
    projectors,
    usage: bytes,
    clock,
    opened,
    handler,
    background,
  };
};

const homeOf = (parts: Parts): Home => {
  const { log, projector, handler, background } = parts;
  /** Everything that is in the log now is seen by what is read next. */
  const current = async <T>(fn: Parameters<typeof projector.read<T>>[0]): Promise<T> => {
    await projector.catchUp();
    return projector.read(fn);
  };
  const view = async (position: Position): Promise<TreeView> => viewOf(projector, position);
  const asked = { projector, load: openTreeLoader() };
  const home: Home = {
    directory: parts.directory,
    lineages: lineagesOf(
      projector,
      (command) => handler.submit(command),
      (line, ref) => home.position(line, ref),
    ),
    submit: (command) => handler.submit(command),
    recordCall: (line, call) => recordCall(home, projector, line, call),
    histories: () => current((rows) => allHistories(rows)),
    history: (id) => current((rows) => oneHistory(rows, id)),
    find: (name) => current((rows) => servedLine(rows, name)),
    snapshots: (line, page) => current((rows) => snapshotsOf(rows, line, page)),
    position: (line, ref = '') => current((rows) => servedPosition(rows, line, ref)),
    view,
    tree: (position) => treeAt(projector, position),
    withPayloads: (history, fn) => projector.payloads.using(history, fn),
    select: async (line, selector, window = {}) => {
      await projector.catchUp();
      return selectIds(asked, line, selector, window);
    },
    range: async (line, selector, options = {}) => {
      await projector.catchUp();
      return selectRange(asked, line, selector, options);
    },
    diff: async (line, a, b, selector) => {
      const [older, newer] = await current(
        (rows) => [positionOf(rows, line, a), positionOf(rows, line, b)] as const,
      );
      return diffPositions(asked, older, newer, selector);
    },
    events: async (history, { from = 0, limit = 1000, node } = {}) => {
      if (node !== undefined) {
        await projector.catchUp();
        return eventsAbout(projector, history, node, { from, limit });
      }
      const acts = await current((rows) => listActs(rows, history, { from, limit }));
      const pages: LoggedEvent[] = [];
      for (const { seq } of acts) pages.push(...(await frameEvents(projector, history, seq)));
      return pages;
    },
    follow: ({ from, ...options }) =>
      from !== undefined && options.history !== undefined
        ? followFrom(log, projector, { ...options, history: options.history, from })
        : followLog(log, projector, options),
    questions: questionsOf({
      ...asked,
      find: (name) => home.find(name),
      follow: (options) => followLog(log, projector, options),
    }),
    audit: auditOf(projector),
    experiments: {
      export: (position) => exportExperiment(projector, position),
      run: (text, options) => runExperiment(home, text, options),
    },
    stages: openStages(projector),
    causes: causesOf(projector),
    stats: () => statsOf(parts),
    doctor: () => examine(parts),
    partitions: () => partitionsOf(parts),
    ready: async () => {
      await parts.opened.begun();
      await partitionsOf(parts);
    },
    replay: (options) => replayRows(parts, options),
    verify: (progress) => verifyHome(parts, progress),
    salvage: (line) => salvageLine(home, line),
    acknowledge: (partition, offset) => acknowledge(parts, partition, offset),
    close: async () => {
      await handler.close();
      await background.close();
      await parts.opened.close();
      await log.close();
    },
  };
  return home;
};
