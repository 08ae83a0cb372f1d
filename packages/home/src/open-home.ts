import { fail, isStemmaError } from '@stemma/errors';
import type { Frame } from '@stemma/events';
import { historyId } from '@stemma/history';
import { acknowledgeDamage, openWriter } from '@stemma/log';
import { headsOf, readFence } from '@stemma/projector';
import { listActs } from '@stemma/read-models';
import type { GenerationView } from '@stemma/row-store';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditOf } from './audit/audit.ts';
import { openBackground } from './background.ts';
import { examine, partitionsOf } from './doctor.ts';
import { observedWriter, type Observe } from './observe.ts';
import { openLogOf, type OpenedLog } from './open-log.ts';
import { openOwnRows, openRowsIn } from './open-rows.ts';
import type { Parts } from './parts.ts';
import { rowsDomain } from './domain.ts';
import { frameEvents, followFrom, followLog } from './follow.ts';
import type { Home, Line, LoggedEvent, Position, TreeView } from './home.ts';
import {
  allHistories,
  findLine,
  oneHistory,
  positionOf,
  snapshotsOf,
  stateOf,
  treeAt,
  viewOf,
} from './read.ts';
import { causesOf } from './causes/causes.ts';
import { eventsAbout } from './causes/why.ts';
import { lineagesOf } from './lineages/lineages.ts';
import { questionsOf } from './questions/questions.ts';
import { diffPositions } from './selection/diff-positions.ts';
import { openTreeLoader } from './selection/load-tree.ts';
import { selectIds } from './selection/select-ids.ts';
import { selectRange } from './selection/select-range.ts';
import { recordCall } from './record-call.ts';
import { salvageLine } from './salvage.ts';
import { submit } from './submit.ts';
import { openStages } from './stages/open-stages.ts';
import { replayRows, statsOf, verifyHome } from './upkeep.ts';
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
  const { contents, served: projector } = opened;
  const positions = new WeakMap<Frame, Position>();
  const plain = openWriter(log, {
    domain: rowsDomain(log, projector, clock, (frame, position) => positions.set(frame, position)),
    contents,
    random: Math.random,
    sleep: (milliseconds) => sleep(milliseconds),
    now: () => performance.now(),
    ...(observe && { overtaken: observe.overtaken }),
  });
  const writer = observedWriter(plain, observe);
  const background = openBackground(() => (opened.elsewhere ? Promise.resolve() : projector.catchUp()));
  return {
    directory,
    place: place.place,
    log,
    opened,
    projector,
    writer,
    background,
    positions,
    clock,
  };
};

const homeOf = (parts: Parts): Home => {
  const { log, projector, writer, background } = parts;
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
      (command) => submit(parts, command),
      (line, ref) => home.position(line, ref),
    ),
    submit: (command) => submit(parts, command),
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
    audit: auditOf(projector, () => home),
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
      await writer.close();
      await background.close();
      await parts.opened.close();
      await log.close();
    },
  };
  return home;
};

/** @throws E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE for a history of which not even the first frame is good */
const servedLine = (rows: GenerationView, name: string): Line => {
  try {
    return findLine(rows, name);
  } catch (error) {
    if (!isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
    for (const history of [name, historyId(name, '')]) {
      const { state = 'open' } = readFence(rows, history) ?? {};
      if (state !== 'open')
        throw fail(
          state === 'damaged' ? 'E_HISTORY_DAMAGED' : 'E_HISTORY_DEFECTIVE',
          `the history ${JSON.stringify(name)} is ${state} from its first frame on: nothing of it can be served`,
          { history, seq: 0 },
        );
    }
    throw error;
  }
};

/** @throws E_HISTORY_DAMAGED, E_HISTORY_DEFECTIVE for what may lie behind the place where the history stops */
const servedPosition = (rows: GenerationView, line: Line, ref: string): Position => {
  try {
    return positionOf(rows, line, ref);
  } catch (error) {
    const { state, stopped } = stateOf(rows, line.history);
    if (state === 'open' || !isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
    throw fail(
      state === 'damaged' ? 'E_HISTORY_DAMAGED' : 'E_HISTORY_DEFECTIVE',
      `${error.message}: the history is ${state} at seq ${stopped ?? '?'}, and nothing behind it is served`,
      { history: line.history, seq: stopped },
    );
  }
};

const acknowledge = async (
  { log, projector, clock }: Parts,
  partition: number,
  offset: number,
): Promise<void> => {
  await projector.catchUp();
  const checkpoint = await projector.checkpoint(partition);
  if (checkpoint === undefined || partition >= log.partitions)
    throw fail('E_NOTHING_TO_ACK', `there is no damaged record at ${partition}@${offset}`, {
      partition,
      offset,
    });
  const heads = {
    load: (histories: readonly string[]) => projector.read((view) => headsOf(view, histories)),
  };
  await acknowledgeDamage(log, checkpoint, heads, offset, {
    at: clock(),
    actor: 'operator',
    command: `ack:${partition}@${offset}`,
  });
  await projector.catchUp();
};
