import { parseCommand } from '@stemma/history';
import {
  assignCall,
  assignFrom,
  finishCall,
  linkConversation,
  openCallStarter,
  openRequestRecorder,
  recordCall,
  startCallAtTip,
  redactedRequest,
} from '@stemma/call-recording';
import { openCommandHandler, tryInFork, type HomeObserver } from '@stemma/command-handler';
import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import { findCommand, type Position, type TreeView } from '@stemma/history-store';
import {
  claimRun,
  openCooperative,
  acknowledge,
  checkpointKeyPath,
  diagnose,
  exportExperiment,
  openHomeLog,
  readDamage,
  readPartitionHealth,
  removeScratchFolders,
  replayRows,
  runExperiment,
  salvageBranch,
  signWithKeyFile,
  statsOf,
  verifyHome,
  type OpenedLog,
} from '@stemma/operations';
import {
  catchUpWith,
  catchUpWithNamed,
  diffNeighbours,
  diffPositions,
  findServedBranch,
  findServedPosition,
  openCallAttempts,
  followFrom,
  followLog,
  listEventsOfNode,
  oneHistory,
  openAudit,
  openBranches,
  openCauses,
  openPrices,
  openQuestions,
  openPools,
  openRequestedRuns,
  openStages,
  openTreeLoader,
  nodeViewOf,
  partialViewOf,
  positionOf,
  readOf,
  readFrameEvents,
  selectIds,
  selectRange,
  snapshotsOf,
  treeAt,
  viewOf,
  type LoggedEvent,
  listHistoryPage,
} from '@stemma/queries';
import { openSearch, removeIndex } from '@stemma/search';
import { openDecodedFrames } from '@stemma/log';
import { loadRedaction } from '@stemma/privacy';
import { findFrameSummary, listFrameSummaries } from '@stemma/read-models';
import type { RedactorOptions } from '@stemma/redaction';
import { mayChangeSteering, openSteering, renewSteeringVersion } from '@stemma/steering';
import { nanosecondsOf } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { openBackground } from './background.ts';
import { openHomeKeyring } from './home-keyring.ts';
import type { HomeServices } from './home-services.ts';
import type { Home } from './home.ts';
import { openLocalRows, openSharedRows } from './open-rows.ts';

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
  readonly catchUpTimeout?: number;
  /**
   * False: this home never makes rows of its own, and answers from them as they stand. For a process that answers for
   * another, which has caught up before it asks. Rows in a database are made by others anyway, who may have thrown away
   * since what it caught up with: those are waited for. Default true.
   */
  readonly folds?: boolean;
  /** Nanoseconds since 1970. Default: the machine's clock. */
  readonly clock?: () => bigint;
  /** Told what was found damaged and made anew, in sentences: nothing is lost, but somebody should know. */
  readonly say?: (sentence: string) => void;
  /** Where it notes these sentences for `doctor`, with those that others note there. */
  readonly repairs?: string[];
  /** Told what is written and folded. */
  readonly observe?: HomeObserver;
  /**
   * Rules of redaction beside those of the home: a file of them (JSON, or a module with a function or rules as its default
   * export), or the rules.
   */
  readonly redact?: string | RedactorOptions;
  /** The file with the prices of models. Default: `prices.json` in the directory, if there is one. */
  readonly prices?: string;
};

/**
 * Opens the Stemma in a directory: log, contents and rows side by side. Several processes may have it open.
 *
 * @throws E_HOME_NOT_FOUND if there is none and `create` is not set; E_LOG_BUSY, E_IO; with a log on Kafka
 *   E_BROKERS_UNREACHABLE, E_LOG_NOT_FOUND, E_LOG_MISMATCH; with rows in a database E_DATABASE_…; E_REDACTION_INVALID.
 */
export const openHome = async (options: HomeOptions): Promise<Home> => {
  const directory = resolve(options.directory);
  const { log: address, rows, say } = options;
  const logOptions = {
    directory,
    create: options.create === true,
    shared: rows !== undefined,
    ...(say && { say }),
  };
  const opened = await openHomeLog(address === undefined ? logOptions : { ...logOptions, address });
  try {
    return openHomeOver(await openServices(directory, opened, options), say);
  } catch (error) {
    await opened.log.close();
    throw error;
  }
};

const onlyRead = (directory: string): StemmaError =>
  fail('E_IO', `${directory} can only be read: nothing can be recorded in it`, { written: false });

const machineClock = (): bigint => nanosecondsOf(Date.now());

const openServices = async (
  directory: string,
  openedLog: OpenedLog,
  {
    rows,
    catchUpTimeout,
    folds = true,
    clock = machineClock,
    observe,
    say,
    repairs = [],
    redact,
    prices,
  }: HomeOptions,
): Promise<HomeServices> => {
  const { beside } = openedLog;
  const isReadOnly = beside !== undefined;
  /** Where what is derived from the log is kept. */
  const derived = beside ?? directory;
  if (!isReadOnly) removeScratchFolders(directory);
  const redactor = await loadRedaction(directory, redact, { isReadOnly });
  const keyring = openHomeKeyring(directory);
  const cooperative = openCooperative(() => performance.now());
  const log = cooperative.reader(openedLog.log);
  const damaged = (damage: StemmaError): void => {
    const sentence = `the rows were damaged (${damage.message}); they are put aside, and rebuilt from the log`;
    repairs.push(sentence);
    say?.(sentence);
    observe?.damaged();
  };
  // Others fold what is written to shared rows.
  const decoded = rows === undefined && folds ? openDecodedFrames() : undefined;
  const opened = await (rows === undefined
    ? openLocalRows(log, {
        directory,
        folder: join(derived, openedLog.rowsFolder),
        keepFrames: openedLog.keepFrames,
        damaged,
        sealer: keyring,
        ...(decoded && { decoded }),
        pause: cooperative.pause,
        ...(catchUpTimeout !== undefined && { catchUpTimeout }),
        ...(observe && { progress: observe.folded }),
        ...(say && { say }),
      })
    : openSharedRows(rows, log, keyring, catchUpTimeout));
  const { contents, projectors, bytes } = opened;
  const projection =
    folds || opened.external ? opened.projection : { ...opened.projection, catchUp: () => Promise.resolve() };
  const background = openBackground(() => (opened.external ? Promise.resolve() : projection.catchUp()));
  const handler = openCommandHandler({
    log,
    contents,
    rows: opened.exact,
    clock,
    accepted: () => background.schedule(),
    ...(observe && { observe }),
    ...(redactor && { redactor }),
    keys: keyring,
    forgotten: async () => {
      removeIndex(derived);
      for (const projector of projectors) await projector.catchUp();
    },
    ...(decoded && { decoded }),
  });
  return {
    directory,
    ...(isReadOnly && { beside }),
    logAddress: openedLog.address,
    log,
    contents,
    projection,
    projectors,
    usage: bytes,
    repairs,
    keyring,
    clock,
    rows: opened,
    handler: isReadOnly ? { ...handler, submit: () => Promise.reject(onlyRead(directory)) } : handler,
    background,
    redactor,
    prices: openPrices(prices ?? join(directory, 'prices.json'), prices !== undefined),
  };
};

/** What recorders and steering need of the home that they are parts of. */
type HomeTarget = Parameters<typeof openRequestRecorder>[0] & Parameters<typeof openSteering>[0]['home'];

const openHomeOver = (services: HomeServices, say: HomeOptions['say']): Home => {
  const { log, projection, handler, background, redactor } = services;
  /** Everything that is in the log now is seen by what is read next. */
  const readCurrent = async <T>(fn: Parameters<typeof projection.read<T>>[0]): Promise<T> => {
    await projection.catchUp();
    return projection.read(fn);
  };
  const view = async (position: Position): Promise<TreeView> => viewOf(projection, position);
  const sources = { projection, load: openTreeLoader() };
  const { keyring } = services;
  const starter = openCallStarter(projection, redactor);
  // What they do to the home, they do when it is there.
  const target: HomeTarget = {
    catchUp: () => home.catchUp(),
    submit: (command) => home.submit(command),
    recordCall: (branchRef, call) => home.recordCall(branchRef, call),
    position: (branchRef, ref) => home.position(branchRef, ref),
    view,
    select: (branchRef, selector) => home.select(branchRef, selector),
    range: (branchRef, selector) => home.range(branchRef, selector),
    diff: (branchRef, a, b, selector) => home.diff(branchRef, a, b, selector),
  };
  const requests = openRequestRecorder(target, projection, starter, redactor);
  const steering = openSteering({
    home: target,
    projection,
    starter,
    requests,
    redactedRequest: (body, api) => redactedRequest(body, api, redactor, undefined),
    say: say ?? (() => undefined),
  });
  const search = openSearch(
    log,
    projection,
    services.beside ?? services.directory,
    () => keyring.erased().length,
    say ?? (() => undefined),
  );
  const home: Home = {
    directory: services.directory,
    branches: openBranches(projection, (command) => home.submit(command)),
    catchUp: () => projection.catchUp(),
    submit: async (command) => {
      refuseShapeless(command);
      await steering.check(command);
      const outcome = await handler.submit(command);
      if (mayChangeSteering(command)) renewSteeringVersion(services.directory);
      requests.accepted(outcome);
      return outcome;
    },
    tryInFork: async (position, steps) => {
      const { history, branchId } = position;
      const command = parseCommand({ id: 'none', history, branchId, by: steps.by, steps: steps.steps });
      await projection.catchUp();
      await steering.check(command, position);
      return tryInFork(projection, position, steps, services.clock(), redactor);
    },
    recordCall: (branchRef, call) => recordCall(home, projection, branchRef, call, starter, redactor),
    recordRequest: (call) => requests.record(call),
    startCallAtTip: (branchRef, call) =>
      startCallAtTip((command) => home.submit(command), branchRef, call, starter),
    findCommand: (history, id) =>
      readOf(projection, history, (rows) => {
        const seq = findCommand(rows, history, id)?.seq;
        return seq === undefined
          ? undefined
          : { seq, branchId: findFrameSummary(rows, history, seq).branchId };
      }),
    finishCall: (branchRef, end) => {
      const finished = finishCall((command) => home.submit(command), branchRef, end, redactor);
      requests.ending(branchRef, finished);
      return finished;
    },
    assignCall: async (call, destination, corrector, following = false) =>
      following
        ? assignFrom(home, projection, call, destination, corrector)
        : [await assignCall(home, projection, call, destination, corrector)],
    claimRun: (run) => claimRun(services.directory, run),
    linkConversation: (branchRef, parent, corrector) =>
      linkConversation(home, projection, branchRef, parent, corrector, randomUUID()),
    steering,
    calls: openCallAttempts(projection, (history) => catchUpWith(projection, history), services.prices),
    erasable: async (subject) => keyring.about(subject),
    erasableAs: async (history) => keyring.subjectOf(history),
    erased: async () => keyring.erased(),
    redacts: redactor !== undefined,
    isLogRemote: log.isRemote === true,
    redactText: (text) => redactor?.text(text) ?? text,
    histories: () => readCurrent((rows) => listHistoryPage(rows).histories),
    listHistories: (filter) => readCurrent((rows) => listHistoryPage(rows, filter)),
    history: (id) => readOf(projection, id, (rows) => oneHistory(rows, id)),
    find: async (given) => {
      // Names are composed; what a system gives may not be.
      const name = given.normalize('NFC');
      try {
        await catchUpWithNamed(projection, name);
        return await projection.read((rows) => findServedBranch(rows, name));
      } catch (error) {
        // The keyring also knows who had it erased, and why; or what is in the place of its key.
        if (isStemmaError(error, 'E_HISTORY_ERASED'))
          throw keyring.erasureOf(String(error.detail['history'])) ?? error;
        if (isStemmaError(error, 'E_HISTORY_SEALED'))
          throw keyring.sealedAs(String(error.detail['history'])) ?? error;
        throw error;
      }
    },
    snapshots: async (branchRef, page) => {
      const table = await services.prices();
      return readOf(projection, branchRef.history, (rows) => snapshotsOf(rows, branchRef, page, table));
    },
    position: (branchRef, ref = '') =>
      readOf(projection, branchRef.history, (rows) => findServedPosition(rows, branchRef, ref)),
    view,
    partialView: (position, ids) => partialViewOf(projection, position, ids),
    nodeView: (position, id) => nodeViewOf(projection, position, id),
    tree: (position) => treeAt(projection, position),
    withPayloads: (history, fn) => projection.payloads.using(history, fn),
    select: async (branchRef, selector, window = {}) => {
      await catchUpWith(projection, branchRef.history);
      return selectIds(sources, branchRef, selector, window);
    },
    range: async (branchRef, selector, options = {}) => {
      await catchUpWith(projection, branchRef.history);
      return selectRange(sources, branchRef, selector, options);
    },
    diff: async (branchRef, a, b, selector) => {
      const [older, newer] = await readOf(
        projection,
        branchRef.history,
        (rows) => [positionOf(rows, branchRef, a), positionOf(rows, branchRef, b)] as const,
      );
      return diffPositions(sources, older, newer, selector);
    },
    diffTrees: (older, newer) => diffNeighbours(projection, older, newer),
    events: async (history, { from = 0, limit = 1000, node } = {}) => {
      if (node !== undefined) {
        await catchUpWith(projection, history);
        return listEventsOfNode(projection, history, node, { from, limit });
      }
      const frameSummaries = await readOf(projection, history, (rows) =>
        listFrameSummaries(rows, history, { from, limit }),
      );
      const pages: LoggedEvent[] = [];
      for (const { seq } of frameSummaries) pages.push(...(await readFrameEvents(projection, history, seq)));
      return pages;
    },
    follow: ({ from, ...options }) =>
      from !== undefined && options.history !== undefined
        ? followFrom(log, projection, { ...options, history: options.history, from })
        : followLog(log, projection, options),
    questions: openQuestions({
      ...sources,
      find: (name) => home.find(name),
      follow: (options) => followLog(log, projection, options),
    }),
    audit: openAudit(projection),
    experiments: {
      export: (position) => exportExperiment(projection, position),
      run: (source, options) => runExperiment(home, source, options),
    },
    pools: openPools(projection),
    runs: openRequestedRuns(projection),
    search,
    stages: openStages(projection),
    causes: openCauses(projection),
    stats: () => statsOf(services),
    doctor: (secrets) => diagnose(services, secrets),
    damage: () => readDamage(services),
    partitions: () => readPartitionHealth(services),
    ready: async () => {
      await services.rows.checkReady();
      await log.checkWritable?.();
      await readPartitionHealth(services);
    },
    replay: (options) => replayRows(services, options),
    verify: (how) => verifyHome(services, how),
    checkpoint: () => signWithKeyFile(log, services.directory, checkpointKeyPath(services.directory)),
    salvage: (branchRef) => salvageBranch(home, branchRef),
    acknowledge: (partition, range) => acknowledge(services, partition, range),
    close: async () => {
      steering.close();
      search.close();
      await handler.close();
      await background.close();
      await services.rows.close();
      await log.close();
    },
  };
  return home;
};

/** What is no command at all is refused before anybody looks into it; what is wrong inside of one, the decision says. */
const refuseShapeless = (command: unknown): void => {
  const { history, by, steps } = (command ?? {}) as { readonly [name: string]: unknown };
  const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
  if (typeof history !== 'string' || !isObject(by) || !Array.isArray(steps) || !steps.every(isObject))
    parseCommand(command);
};
