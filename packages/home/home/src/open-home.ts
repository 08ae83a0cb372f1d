import { openCallStarter, openRequestRecorder, redactedRequest } from '@stemma/call-recording';
import { openCommandHandler, tryInFork, type HomeObserver } from '@stemma/command-handler';
import { fail, type StemmaError } from '@stemma/errors';
import { parseCommand } from '@stemma/history';
import { openDecodedFrames } from '@stemma/log';
import { openCooperative, openHomeLog, removeScratchFolders, type OpenedLog } from '@stemma/operations';
import { loadRedaction } from '@stemma/privacy';
import { followFrom, followLog, openBranches, openPrices, openTreeLoader } from '@stemma/queries';
import type { RedactorOptions } from '@stemma/redaction';
import { removeIndex } from '@stemma/search';
import { mayChangeSteering, openSteering, renewSteeringVersion } from '@stemma/steering';
import { defined, nanosecondsOf } from '@stemma/values';
import { join, resolve } from 'node:path';
import { openBackground } from './background.ts';
import { openCalls } from './home-calls.ts';
import { openFinding } from './home-finding.ts';
import { openHomeKeyring } from './home-keyring.ts';
import { openOperations } from './home-operations.ts';
import { openPrivacy } from './home-privacy.ts';
import { openQueries } from './home-queries.ts';
import { openReading } from './home-reading.ts';
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
        ...defined({ catchUpTimeout }),
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

const openHomeOver = (services: HomeServices, say: (sentence: string) => void = () => undefined): Home => {
  const { log, projection, handler, background, redactor } = services;
  const sources = { projection, load: openTreeLoader() };
  const starter = openCallStarter(projection, redactor);
  const read = openReading(services, sources);
  // What they do to the home, they do when it is there.
  const target = {
    ...read,
    view: (position) => read.view(position),
    catchUp: () => home.catchUp(),
    submit: (command) => home.submit(command),
    position: (branchRef, ref) => home.position(branchRef, ref),
    recordCall: (branchRef, call) => home.calls.recordCall(branchRef, call),
  } satisfies HomeTarget;
  const requests = openRequestRecorder(target, projection, starter, redactor);
  const steering = openSteering({
    home: target,
    projection,
    starter,
    requests,
    redactedRequest: (body, api) => redactedRequest(body, api, redactor, undefined),
    say,
  });
  const queries = openQueries(services, sources, (name) => home.find(name), say);
  const home: Home = {
    directory: services.directory,
    ...openFinding(services),
    read,
    queries,
    branches: openBranches(projection, target.submit),
    submit: async (command) => {
      refuseShapeless(command);
      await steering.check(command);
      const outcome = await handler.submit(command);
      if (mayChangeSteering(command)) renewSteeringVersion(services.directory);
      requests.accepted(outcome);
      return outcome;
    },
    tryInFork: async (at, steps) => {
      const { history, branchId } = at;
      const command = parseCommand({ id: 'none', history, branchId, by: steps.by, steps: steps.steps });
      await projection.catchUp();
      await steering.check(command, at);
      return tryInFork(projection, at, steps, services.clock(), redactor);
    },
    calls: openCalls(services, target, starter, requests),
    steering,
    privacy: openPrivacy(services),
    operations: openOperations(services, target),
    follow: ({ from, ...options }) =>
      from !== undefined && options.history !== undefined
        ? followFrom(log, projection, { ...options, history: options.history, from })
        : followLog(log, projection, options),
    catchUp: () => projection.catchUp(),
    close: async () => {
      steering.close();
      queries.search.close();
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
