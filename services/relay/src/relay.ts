import { fail, isStemmaError } from '@stemma/errors';
import { isAccessDenied, openLogSource, openRetry, type LogSource, type Retry } from '@stemma/home';
import { checkCursor, progressGuard, type EventLog } from '@stemma/log';
import { openPublisher, parseKafkaAddress, type KafkaAddress, type Publisher } from '@stemma/log-kafka';
import { anySignal } from '@stemma/machine';
import { openProjector } from '@stemma/projector';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { join } from 'node:path';
import {
  firstCheckpoint,
  openCheckpointStore,
  type CheckpointStore,
  type RelayCheckpoint,
} from './checkpoint.ts';
import { openPartitionRelay, type PartitionRelay } from './partition-relay.ts';
import { openStatus } from './status.ts';

export type RelayOptions = {
  /** The home. It has the contents, and the log unless `log` is given. The relay stores its checkpoints in its folder `relay`. */
  readonly directory: string;
  /** `kafka://HOST:PORT/PREFIX`. */
  readonly log?: string;
  /** `postgres://…`: the database with the contents, if they are not in the home. */
  readonly rows?: string;
  /** `kafka://HOST:PORT/TOPIC[?partitions=N]`: where to publish. */
  readonly to: string;
  /** Where to begin if there is no checkpoint: true publishes only events from now on. Default: from the first event. */
  readonly fromNow?: boolean;
  /** Ignores the checkpoint and publishes everything again. */
  readonly fromStart?: boolean;
  /** Ends when everything in the log is published, instead of waiting for more. */
  readonly once?: boolean;
  /** The port of the status server (metrics and health) on the loopback address. Default: no status server. */
  readonly statusPort?: number;
  /** Milliseconds after which the relay asks brokers again that do not answer. Default 10,000. */
  readonly deadline?: number;
  readonly signal: AbortSignal;
  /** Receives sentences for people. */
  readonly say: (sentence: string) => void;
};

export type RelayReport = {
  readonly topic: string;
  /** The number of events that the brokers acknowledged in this run, repeated ones included. */
  readonly events: number;
  /** Damaged or defective histories, and partitions closed by a damaged record. The relay publishes nothing after the damage. */
  readonly held: readonly string[];
  readonly closed: readonly number[];
};

/**
 * Publishes every accepted event of a log as one record (docs/events.md), at least once, in the order of its history,
 * until the signal aborts. It stores what the brokers acknowledged before it publishes more, so killing it loses nothing.
 * It waits while brokers cannot be reached and, unless it runs once, for the topic of a home that has none yet, and while the
 * database refuses its user that it has worked with.
 *
 * @throws E_USAGE, E_HOME_NOT_FOUND, E_LOG_NOT_FOUND, E_LOG_MISMATCH, E_VERSION_NEEDED, E_BROKERS_REFUSED;
 *   E_CURSOR_LOST if the checkpoint belongs to another log or topic
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
  // Whoever writes first makes the topic. A home that is not there is mistyped.
  let hasBegun = false;
  const retry = openRetry(
    signal,
    say,
    (error) =>
      options.once !== true && (error.code === 'E_LOG_NOT_FOUND' || (hasBegun && isAccessDenied(error))),
  );
  await using closing = new AsyncDisposableStack();
  const status = openStatus(retry);
  if (options.statusPort !== undefined) {
    const server = await status.serve(options.statusPort);
    closing.defer(() => server.close());
    say(`status at ${server.url}`);
  }
  const source = closing.adopt(await retry.run(() => openLogSource(options)), (opened: LogSource) =>
    opened.close(),
  );
  const publisher = closing.adopt(
    await retry.run(() =>
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
  const checkpoints = await openCheckpointStore(join(folder, `${publisher.topic}@${publisher.cluster}`));
  let events = 0;
  const context = {
    log,
    contents: projector.options.contents,
    projector,
    publisher,
    checkpoints,
    say,
    published: (more: number) => {
      events += more;
      status.published(more);
    },
  };
  const startCheckpoints = await retry.run(() => loadCheckpoints(log, publisher, checkpoints, options));
  const partitionRelays = startCheckpoints.map((checkpoint, partition) =>
    openPartitionRelay(context, partition, checkpoint),
  );
  status.started(log, projector, partitionRelays);
  hasBegun = true;
  try {
    await run(partitionRelays, log, retry, options);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return {
    topic: publisher.topic,
    events,
    held: partitionRelays.flatMap((partitionRelay) => [...partitionRelay.checkpoint().held.keys()]),
    closed: partitionRelays
      .filter((partitionRelay) => partitionRelay.isClosed())
      .map(({ partition }) => partition),
  };
};

/** The checkpoint of each partition. @throws E_CURSOR_LOST */
const loadCheckpoints = async (
  log: EventLog,
  publisher: Publisher,
  checkpoints: CheckpointStore,
  { fromStart = false, fromNow = false }: RelayOptions,
): Promise<readonly RelayCheckpoint[]> => {
  const ends = await publisher.ends();
  const startCheckpoints: RelayCheckpoint[] = [];
  for (let partition = 0; partition < log.partitions; partition++) {
    const known = fromStart ? undefined : await checkpoints.load(partition);
    if (known !== undefined) {
      await checkSameLogAndTopic(log, publisher, known, ends);
      startCheckpoints.push(known);
      continue;
    }
    const first = await firstCheckpoint(log, partition, { now: fromNow, partitions: publisher.partitions });
    await checkpoints.save(partition, first);
    startCheckpoints.push(first);
  }
  return startCheckpoints;
};

const HELP = 'stemma relay --again publishes everything once more';

const checkSameLogAndTopic = async (
  log: EventLog,
  { topic, partitions }: Publisher,
  checkpoint: RelayCheckpoint,
  ends: readonly number[],
): Promise<void> => {
  if (checkpoint.partitions !== partitions)
    throw fail(
      'E_LOG_MISMATCH',
      `the topic ${topic} had ${checkpoint.partitions} partitions and has ${partitions} now: its histories would change places; publish to a new one`,
    );
  for (const [partition, end] of checkpoint.ends)
    if ((ends[partition] ?? -1) < end)
      throw fail(
        'E_CURSOR_LOST',
        `the topic ${topic} is not the one that was published to: partition ${partition} ended at ${end} and ends at ${ends[partition] ?? 'nothing'} now; ${HELP}`,
        { partition },
      );
  try {
    await checkCursor(log, checkpoint.cursor);
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
  partitionRelays: readonly PartitionRelay[],
  log: EventLog,
  retry: Retry,
  { signal, once = false }: RelayOptions,
): Promise<void> => {
  const going = (): boolean => !signal.aborted;
  const round = progressGuard('the log has records that were not published');
  while (going()) {
    let moved = false;
    for (const partitionRelay of partitionRelays) {
      if (!going()) return;
      if (await retry.run(() => partitionRelay.step())) moved = true;
    }
    if (moved) continue;
    if (once) return;
    await retry.run(() => waitForMore(partitionRelays, log, round, signal));
  }
};

/** The offset to wait for. Damage that closes the partition needs an acknowledgement, which comes at the end of the log. */
const awaitedOffset = async (partitionRelay: PartitionRelay, log: EventLog): Promise<number> =>
  partitionRelay.isClosed() ? log.end(partitionRelay.partition) : partitionRelay.checkpoint().cursor.offset;

/** The offsets of the partitions whose next records could not be read. */
const unreadOffsets = async (partitionRelays: readonly PartitionRelay[], log: EventLog): Promise<string> => {
  const unread: string[] = [];
  for (const partitionRelay of partitionRelays) {
    const at = await awaitedOffset(partitionRelay, log);
    if (at < (await log.end(partitionRelay.partition))) unread.push(`${partitionRelay.partition}@${at}`);
  }
  return unread.join(', ');
};

/**
 * Milliseconds between looks for what the log does not tell: a missing content that somebody restored, and, in a closed
 * partition, an acknowledgement that was appended before the wait for it began.
 */
const LOOK_AGAIN = 5000;

const waitForMore = async (
  partitionRelays: readonly PartitionRelay[],
  log: EventLog,
  round: (place: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  const unread = await unreadOffsets(partitionRelays, log);
  if (unread !== '') round(unread);
  const done = new AbortController();
  const looksAgain = partitionRelays.some((each) => each.isClosed() || each.checkpoint().held.size > 0);
  const any = anySignal([signal, done.signal, ...(looksAgain ? [AbortSignal.timeout(LOOK_AGAIN)] : [])]);
  try {
    await Promise.race(
      partitionRelays.map(async (partitionRelay) => {
        const { partition } = partitionRelay;
        await log.wait(partition, await awaitedOffset(partitionRelay, log), any);
      }),
    );
  } finally {
    done.abort();
  }
};
