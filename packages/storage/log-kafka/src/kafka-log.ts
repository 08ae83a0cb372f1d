import { fail } from '@stemma/errors';
import { openPartitions, readStoredLog, type EventLog, type RawLog } from '@stemma/log';
import { nanosecondsOf } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { readKafkaSecurity, type KafkaSecurity } from './security/settings.ts';
import { openClient } from './protocol/client.ts';
import { framesTopic, keepsItsEnd, openTopic, type TopicFacts } from './protocol/topic.ts';
import { openReader } from './reader.ts';
import { openSender } from './sender.ts';
import { openTopicGuard, type TopicGuard } from './topic-guard.ts';
import { openWatcher, type WatcherWaits } from './watcher.ts';

export type KafkaLogOptions = {
  /** `host:port` of some of the brokers; they name the others. */
  readonly brokers: readonly string[];
  /** The frames are in the topic `PREFIX.frames`. */
  readonly prefix: string;
  /** For a new log, default 6; an existing one must have the same number if it is given. */
  readonly partitions?: number;
  /** Make the topic if it is missing. Default true. */
  readonly create?: boolean;
  /** Milliseconds after which a request without an answer fails. Default 10,000. */
  readonly deadline?: number;
  /** Default: what the variables `STEMMA_KAFKA_…` of this process say. */
  readonly security?: KafkaSecurity;
  /** How long whoever waits for new records leaves it to the brokers. */
  readonly waits?: Partial<WatcherWaits>;
};

/** A log on Kafka, with what the brokers said of its topic when it was opened. */
export type KafkaLog = EventLog & { readonly facts: TopicFacts };

const DEADLINE = 10_000;
const PARTITIONS = 6;

/**
 * The log on Apache Kafka: acknowledged by all in-sync replicas, every partition one order, any number of readers and
 * writers. Its topic is made with infinite retention and without compaction; one that would lose frames is refused.
 *
 * @throws E_BROKERS_UNREACHABLE, E_BROKERS_REFUSED; E_LOG_NOT_FOUND if there is none and `create` is false;
 *   E_LOG_MISMATCH if it has another number of partitions, or its topic's settings do not keep everything forever.
 */
export const openKafkaLog = async (options: KafkaLogOptions): Promise<KafkaLog> => {
  const { brokers, prefix, deadline = DEADLINE, create = true } = options;
  const security = options.security ?? readKafkaSecurity(process.env);
  const topic = framesTopic(prefix);
  const making = create ? { create: options.partitions ?? PARTITIONS } : {};
  const facts = await openTopic({ brokers, security, topic, deadline, ...making });
  if (facts === undefined)
    throw fail('E_LOG_NOT_FOUND', `the brokers at ${brokers.join(', ')} have no topic ${topic}`, { topic });
  const { raw: all, guard } = openRaw({ ...options, security }, facts, deadline);
  try {
    await guard.check();
    // A log keeps the partitions it was made with: which one a history is in rests on their number.
    const raw = withFewer(all, (await readStoredLog(all))?.partitions ?? facts.partitions);
    const { partitions } = raw;
    if (options.partitions !== undefined && options.partitions !== partitions)
      throw fail(
        'E_LOG_MISMATCH',
        `the log in ${facts.topic} has ${partitions} partitions, not ${options.partitions}`,
      );
    const id = await openPartitions(raw, randomUUID(), nanosecondsOf(Date.now()));
    guard.identify({ id, partitions });
    return { ...raw, id, facts };
  } catch (error) {
    await all.close();
    throw error;
  }
};

/** Partitions that an operator added later are left alone. */
const withFewer = (log: RawLog, partitions: number): RawLog => {
  if (partitions >= log.partitions) return log;
  const known = (partition: number): number => {
    if (partition < partitions) return partition;
    throw fail('E_LOG_MISMATCH', `there is no partition ${partition}`);
  };
  return {
    ...log,
    partitions,
    append: async (partition, entries) => log.append(known(partition), entries),
    read: async (partition, from, options) => log.read(known(partition), from, options),
    end: async (partition) => log.end(known(partition)),
    start: async (partition) => log.start(known(partition)),
  };
};

const openRaw = (
  { brokers, prefix, waits, security }: KafkaLogOptions & { readonly security: KafkaSecurity },
  facts: TopicFacts,
  deadline: number,
): { readonly raw: RawLog; readonly guard: TopicGuard } => {
  const topic = framesTopic(prefix);
  const connect = (): ReturnType<typeof openClient> => openClient({ brokers, security, topic, deadline });
  const client = connect();
  const watcher = openWatcher(connect, waits);
  const guard = openTopicGuard({
    topic,
    connect,
    readStored: () => readStoredLog(raw),
    forget: () => {
      for (const { reader } of places) reader.forget();
    },
  });
  const epoch = (): number => client.epoch() + guard.epoch();
  const places = Array.from({ length: facts.partitions }, (_, partition) => {
    const sawStart = (start: number): void => {
      guard.sawStart(partition, start);
    };
    const reader = openReader({ ...client, epoch }, partition, sawStart);
    const append = openSender(client, partition, (end, start) => {
      sawStart(start);
      reader.saw(end);
      watcher.saw(partition, end);
    });
    return { reader, append };
  });
  let closed = false;
  const at = (partition: number): (typeof places)[number] => {
    if (closed) throw fail('E_LOG_CLOSED', 'the log was closed');
    const place = places[partition];
    if (place === undefined) throw fail('E_LOG_MISMATCH', `there is no partition ${partition}`);
    return place;
  };
  const raw: RawLog = {
    partitions: facts.partitions,
    keepsItsEnd: keepsItsEnd(facts),
    append: async (partition, entries) => {
      const { append } = at(partition);
      if (entries.length === 0) return [];
      // Asked while the records are on their way, and again if they were on it for long.
      const [placed] = await Promise.all([append(entries), guard.check()]);
      await guard.check();
      return placed;
    },
    read: async (partition, from, { maxBytes = 1024 * 1024, fresh = false } = {}) =>
      at(partition).reader.read(from, maxBytes, { fresh }),
    end: async (partition) => at(partition).reader.end(),
    start: async (partition) => at(partition).reader.start(),
    isRemote: true,
    epoch,
    checkIntact: () => guard.check(),
    wait: async (partition, from, signal) => (at(partition), watcher.wait(partition, from, signal)),
    close: async () => {
      if (closed) return;
      closed = true;
      await Promise.all([client.close(), watcher.close(), guard.close()]);
    },
  };
  return { raw, guard };
};
