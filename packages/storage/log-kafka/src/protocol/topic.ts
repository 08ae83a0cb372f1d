import { retryAttempts } from '@stemma/machine';
import kafkajs from 'kafkajs';
import type { KafkaSecurity } from '../security/settings.ts';
import { openKafka, openSockets, turned } from './connections.ts';
import { needing, refuseFinal, typeOf, unreachable } from './kafka-errors.ts';
import { Lost, unlessLost } from './unless-lost.ts';

/** The topic that holds the frames of a log. */
export const framesTopic = (prefix: string): string => `${prefix}.frames`;

/** The facts that brokers report about a frames topic. */
export type TopicFacts = {
  readonly topic: string;
  /** The id of the brokers' cluster. */
  readonly cluster: string;
  readonly partitions: number;
  /** The smallest number of replicas, and of replicas in sync, over all partitions, now. */
  readonly replicas: number;
  readonly inSync: number;
  readonly brokers: number;
  readonly minInSync: number;
  readonly uncleanElection: boolean;
  /** The settings that decide whether the topic can hold a log, as the brokers report them. */
  readonly settings: Readonly<Record<string, string>>;
  /** What is wrong with the settings: a log must keep every record forever. */
  readonly faults: readonly string[];
};

/** The settings that decide whether a topic can hold a log. */
export const TOPIC_SETTINGS: readonly string[] = [
  'cleanup.policy',
  'retention.ms',
  'retention.bytes',
  'compression.type',
  'max.message.bytes',
  'min.insync.replicas',
  'unclean.leader.election.enable',
];

export const TOPIC_RESOURCE = kafkajs.ConfigResourceTypes.TOPIC;

/** The smallest `max.message.bytes`: a frame of 900 KiB with its hash, its key, and Kafka's own bytes. */
const LEAST_MESSAGE = 900 * 1024 + 2048;

const PAUSES = { first: 20, longest: 500 };

export type TopicOptions = {
  readonly brokers: readonly string[];
  readonly security: KafkaSecurity;
  readonly topic: string;
  /** Milliseconds after which the request is given up. */
  readonly deadline: number;
  /** If there is no topic, make one with so many partitions. */
  readonly create?: number;
};

/**
 * Asks the brokers about the topic, and makes it if `create` is given. Undefined if there is none.
 *
 * @throws E_BROKERS_UNREACHABLE, E_BROKERS_REFUSED
 */
export const openTopic = async (options: TopicOptions): Promise<TopicFacts | undefined> => {
  const { brokers, security, topic, deadline, create } = options;
  /** The facts, undefined if there is no topic, or null where it is made just now. */
  const attempt = async (admin: kafkajs.Admin): Promise<TopicFacts | null | undefined> => {
    await admin.connect();
    if ((await admin.listTopics()).includes(topic)) return describeTopic(admin, options);
    await refuseHidden(admin, options);
    if (create === undefined) return undefined;
    await needing('CREATE', options, createTopic(admin, topic, create));
    return null;
  };
  let made = 0;
  const onNewConnections = async (): Promise<TopicFacts | null | undefined> => {
    const sockets = openSockets(security);
    const admin = openKafka(turned(brokers, made++), sockets).admin();
    let isLost = false;
    try {
      return await unlessLost(attempt(admin));
    } catch (error) {
      isLost = error instanceof Lost;
      throw error;
    } finally {
      // kafkajs waits for its open requests, and for those that are lost for ever.
      const ended = admin.disconnect().catch(() => undefined);
      if (!isLost) await unlessLost(ended).catch(() => undefined);
      sockets.end();
    }
  };
  const untilListed = async (): Promise<TopicFacts | undefined> => {
    for (;;) {
      const found = await onNewConnections();
      if (found !== null) return found;
    }
  };
  return retryAttempts(untilListed, {
    pauses: PAUSES,
    deadline,
    onFailure: ({ error, isLate }) => {
      refuseFinal(error, true);
      if (isLate) throw unreachable(brokers, error);
    },
  });
};

/** Brokers list no topic that the client may not see. @throws E_BROKERS_DENIED */
const refuseHidden = async (admin: kafkajs.Admin, options: TopicOptions): Promise<void> => {
  const asked = admin.fetchTopicMetadata({ topics: [options.topic] }).catch((error: unknown) => {
    if (typeOf(error).endsWith('_AUTHORIZATION_FAILED')) throw error;
  });
  await needing('DESCRIBE', options, asked);
};

const createTopic = async (admin: kafkajs.Admin, topic: string, partitions: number): Promise<void> => {
  const { brokers } = await admin.describeCluster();
  const replicas = Math.min(brokers.length, 3);
  const config: Readonly<Record<string, string>> = {
    'cleanup.policy': 'delete',
    'retention.ms': '-1',
    'retention.bytes': '-1',
    'compression.type': 'producer',
    'unclean.leader.election.enable': 'false',
    'min.insync.replicas': replicas >= 3 ? '2' : '1',
  };
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
  try {
    await admin.createTopics({
      topics: [{ topic, numPartitions: partitions, replicationFactor: replicas, configEntries }],
      waitForLeaders: true,
    });
  } catch (error) {
    // Another process made the topic at the same time.
    if (!causes(error).some((each) => typeOf(each) === 'TOPIC_ALREADY_EXISTS'))
      throw causes(error)[0] ?? error;
  }
};

const causes = (error: unknown): readonly unknown[] => {
  const { errors } = (error ?? {}) as { errors?: unknown };
  return Array.isArray(errors) && errors.length > 0 ? (errors as unknown[]) : [error];
};

const describeTopic = async (admin: kafkajs.Admin, options: TopicOptions): Promise<TopicFacts> => {
  const { topic } = options;
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions ?? [];
  const { brokers, clusterId } = await admin.describeCluster();
  const asked = admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_RESOURCE, name: topic, configNames: [...TOPIC_SETTINGS] }],
  });
  const { resources } = await needing('DESCRIBE_CONFIGS', options, asked);
  const entries = resources[0]?.configEntries ?? [];
  const settings = Object.fromEntries(
    entries.map(({ configName, configValue }) => [configName, configValue]),
  );
  return {
    topic,
    cluster: clusterId,
    partitions: partitions.length,
    replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
    inSync: Math.min(...partitions.map(({ isr }) => isr.length)),
    brokers: brokers.length,
    minInSync: Number(settings['min.insync.replicas'] ?? 1),
    uncleanElection: settings['unclean.leader.election.enable'] === 'true',
    settings,
    faults: faultsOf(settings),
  };
};

/** True if the topic cannot lose an acknowledged record: two replicas have it, and no replica without it can become leader. */
export const keepsItsEnd = ({ replicas, minInSync, uncleanElection }: TopicFacts): boolean =>
  replicas >= 2 && minInSync >= 2 && !uncleanElection;

/** What is wrong with the settings of a topic that is to hold a log. */
export const faultsOf = (settings: TopicFacts['settings']): readonly string[] => {
  const faults: string[] = [];
  const policy = settings['cleanup.policy'] ?? 'delete';
  if (policy.includes('compact')) faults.push(`cleanup.policy is ${policy}: frames would be thrown away`);
  for (const name of ['retention.ms', 'retention.bytes'])
    if ((settings[name] ?? '-1') !== '-1') faults.push(`${name} is ${settings[name]}: it must be -1`);
  const codec = settings['compression.type'] ?? 'producer';
  if (!['producer', 'zstd', 'gzip', 'uncompressed'].includes(codec))
    faults.push(`compression.type is ${codec}, which is not read: it must be producer`);
  const most = Number(settings['max.message.bytes'] ?? LEAST_MESSAGE);
  if (most < LEAST_MESSAGE) faults.push(`max.message.bytes is ${most}: it must be ${LEAST_MESSAGE} at least`);
  return faults;
};
