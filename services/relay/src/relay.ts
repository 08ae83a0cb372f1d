import { fail, isStemmaError } from '@stemma/errors';
import { openPatience, openSource, type Patience, type Source } from '@stemma/home';
import { checkCursor, type EventLog } from '@stemma/log';
import { openPublisher, parseKafkaAddress, type KafkaAddress, type Publisher } from '@stemma/log-kafka';
import { openProjector } from '@stemma/projector';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { join } from 'node:path';
import { openCourse, type Course } from './course.ts';
import { firstPlace, openPlaces, type Place, type Places } from './place.ts';
import { openStatus } from './status.ts';

export type RelayOptions = {
  /** A home: contents are there, the log too unless `log` says otherwise; the relay keeps its place in `relay`. */
  readonly directory: string;
  /** `kafka://HOST:PORT/PREFIX`. */
  readonly log?: string;
  /** `postgres://…`: where the contents are, if not in the home. */
  readonly rows?: string;
  /** `kafka://HOST:PORT/TOPIC[?partitions=N]`: where to publish. */
  readonly to: string;
  /** Where to begin that has no place yet: the first event, or those from now on. Default the first. */
  readonly fromNow?: boolean;
  /** Forget the place: everything is published once more. */
  readonly again?: boolean;
  /** End when everything that is in the log was published, instead of waiting for more. */
  readonly once?: boolean;
  /** Of the status server: metrics and health, on the loopback address. Default: there is none. */
  readonly statusPort?: number;
  /** Milliseconds after which brokers that do not answer are asked anew. Default 10,000. */
  readonly deadline?: number;
  readonly signal: AbortSignal;
  /** A sentence for people. */
  readonly say: (sentence: string) => void;
};

export type RelayReport = {
  readonly topic: string;
  /** Events that were acknowledged in this run, repeats included. */
  readonly events: number;
  /** Histories that are not whole, and partitions closed by a damaged record: what stands behind is not published. */
  readonly held: readonly string[];
  readonly closed: readonly number[];
};

/**
 * Publishes every accepted event of a log as one record (docs/events.md), at least once, in the order of its history;
 * ends with the signal. What was acknowledged is noted before more is published, so whoever kills it loses nothing. It
 * waits while brokers are away.
 *
 * @throws E_USAGE, E_HOME_NOT_FOUND, E_LOG_NOT_FOUND, E_LOG_MISMATCH, E_VERSION_NEEDED, E_BROKERS_REFUSED; E_CURSOR_LOST
 *   if the log or the topic is not the one that the place was noted for
 */
export const runRelay = async (options: RelayOptions): Promise<RelayReport> => {
  const target = parseKafkaAddress(options.to);
  try {
    return await relayTo(target, options);
  } catch (error) {
    if (!options.signal.aborted) throw error;
    return { topic: target.prefix, events: 0, held: [], closed: [] };
  }
};

const relayTo = async (target: KafkaAddress, options: RelayOptions): Promise<RelayReport> => {
  const { signal, say } = options;
  const patience = openPatience(signal, say);
  await using closing = new AsyncDisposableStack();
  const status = openStatus(patience);
  if (options.statusPort !== undefined) {
    const server = await status.serve(options.statusPort);
    closing.defer(() => server.close());
    say(`its status is at ${server.url}`);
  }
  const source = closing.adopt(await patience.trying(() => openSource(options)), (opened: Source) =>
    opened.close(),
  );
  const publisher = closing.adopt(
    await patience.trying(() =>
      openPublisher({
        ...target,
        topic: target.prefix,
        ...(options.deadline && { deadline: options.deadline }),
      }),
    ),
    (opened: Publisher) => opened.close(),
  );
  const folder = join(source.directory, 'relay');
  const rows = openLmdbRowStore({ directory: join(folder, 'rows') });
  closing.defer(() => rows.close());
  const { log, contents, keepFrames } = source;
  const projector = openProjector({
    log,
    contents,
    keepFrames,
    store: rows,
    models: [],
    group: 'relay',
    progress: status.folded,
  });
  const places = await openPlaces(join(folder, `${publisher.topic}@${publisher.cluster}`));
  let events = 0;
  const relaying = {
    log,
    contents: projector.options.contents,
    projector,
    publisher,
    places,
    say,
    published: (more: number) => {
      events += more;
      status.published(more);
    },
  };
  const begun = await patience.trying(() => beginnings(log, publisher, places, options));
  const courses = begun.map((place, partition) => openCourse(relaying, partition, place));
  status.relaying(log, projector, courses);
  try {
    await run(courses, log, patience, options);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return {
    topic: publisher.topic,
    events,
    held: courses.flatMap((course) => [...course.place().held.keys()]),
    closed: courses.filter((course) => course.isClosed()).map(({ partition }) => partition),
  };
};

/** Where to go on in each partition. @throws E_CURSOR_LOST */
const beginnings = async (
  log: EventLog,
  publisher: Publisher,
  places: Places,
  { again = false, fromNow = false }: RelayOptions,
): Promise<readonly Place[]> => {
  const ends = await publisher.ends();
  const begun: Place[] = [];
  for (let partition = 0; partition < log.partitions; partition++) {
    const known = again ? undefined : await places.load(partition);
    if (known !== undefined) {
      await refuseOther(log, publisher, known, ends);
      begun.push(known);
      continue;
    }
    const first = await firstPlace(log, partition, { now: fromNow, partitions: publisher.partitions });
    await places.save(partition, first);
    begun.push(first);
  }
  return begun;
};

const HELP = 'stemma relay --again publishes everything once more';

const refuseOther = async (
  log: EventLog,
  { topic, partitions }: Publisher,
  place: Place,
  ends: readonly number[],
): Promise<void> => {
  if (place.partitions !== partitions)
    throw fail(
      'E_LOG_MISMATCH',
      `the topic ${topic} had ${place.partitions} partitions and has ${partitions} now: its histories would change places; publish to a new one`,
    );
  for (const [partition, end] of place.ends)
    if ((ends[partition] ?? -1) < end)
      throw fail(
        'E_CURSOR_LOST',
        `the topic ${topic} is not the one that was published to: partition ${partition} ended at ${end} and ends at ${ends[partition] ?? 'nothing'} now; ${HELP}`,
        { partition },
      );
  try {
    await checkCursor(log, place.cursor);
  } catch (error) {
    if (!isStemmaError(error, 'E_CURSOR_LOST')) throw error;
    throw fail(
      error.code,
      `the log is not the one that was published: ${error.message}; ${HELP}`,
      error.detail,
    );
  }
};

const run = async (
  courses: readonly Course[],
  log: EventLog,
  patience: Patience,
  { signal, once = false }: RelayOptions,
): Promise<void> => {
  const going = (): boolean => !signal.aborted;
  while (going()) {
    let moved = false;
    for (const course of courses) {
      if (!going()) return;
      if (await patience.trying(() => course.step())) moved = true;
    }
    if (moved) continue;
    if (once) return;
    await patience.trying(() => waitForMore(courses, log, signal));
  }
};

/** A content that is put back does not stand in the log: so often it is looked for, in milliseconds. */
const LOOK = 5000;

const waitForMore = async (courses: readonly Course[], log: EventLog, signal: AbortSignal): Promise<void> => {
  const done = new AbortController();
  const isHolding = courses.some((course) => course.place().held.size > 0);
  const any = AbortSignal.any([signal, done.signal, ...(isHolding ? [AbortSignal.timeout(LOOK)] : [])]);
  try {
    await Promise.race(
      courses.map(async (course) => {
        const { partition } = course;
        // Behind damage that closes the partition only an acknowledgement helps, and that comes at the end.
        const from = course.isClosed() ? await log.end(partition) : course.place().cursor.offset;
        await log.wait(partition, from, any);
      }),
    );
  } finally {
    done.abort();
  }
};
