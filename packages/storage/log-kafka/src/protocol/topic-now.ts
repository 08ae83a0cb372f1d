import type Cluster from 'kafkajs/src/cluster/index.js';
import { fetchTopicId } from './metadata-request.ts';
import { TOPIC_RESOURCE, TOPIC_SETTINGS } from './topic.ts';

/** What the brokers say of a topic at this moment. */
export type TopicNow = {
  /** Undefined if the brokers are too old to know it. */
  readonly id: string | undefined;
  readonly settings: Readonly<Record<string, string>>;
  /** The offset of the first record of each partition that has a leader. */
  readonly starts: ReadonlyMap<number, number>;
};

/**
 * Asks one broker for the topic's id and settings, and every leader for where its partitions begin. A leader that does not
 * answer is left out: its partitions take no records either.
 *
 * @param turn which of the leaders to ask first: one that does not answer must not be in the way
 */
export const describeTopicNow = async (on: Cluster, topic: string, turn: number): Promise<TopicNow> => {
  const groups = new Map<number, number[]>();
  for (const { partitionId, leader } of on.findTopicPartitionMetadata(topic))
    if (leader >= 0) groups.set(leader, [...(groups.get(leader) ?? []), partitionId]);
  const leaders = [...groups.keys()].sort((a, b) => a - b);
  const nodeId = leaders[turn % leaders.length];
  if (nodeId === undefined) throw new Error('no partition of the topic has a leader just now');
  const broker = await on.findBroker({ nodeId: String(nodeId) });
  const resources = [{ type: TOPIC_RESOURCE, name: topic, configNames: [...TOPIC_SETTINGS] }];
  const [id, described, ...begins] = await Promise.all([
    fetchTopicId(broker, topic),
    broker.describeConfigs({ resources }),
    ...[...groups.values()].map((partitions) => startsOrNone(on, topic, partitions)),
  ]);
  const entries = described.resources[0]?.configEntries ?? [];
  return {
    id,
    settings: Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue])),
    starts: new Map(begins.flat()),
  };
};

const EARLIEST = -2;

const startsOrNone = async (
  on: Cluster,
  topic: string,
  partitions: readonly number[],
): ReturnType<typeof startsOf> => {
  try {
    return await startsOf(on, topic, partitions);
  } catch {
    // The next look finds who leads them then.
    await on.refreshMetadata().catch(() => undefined);
    return [];
  }
};

const startsOf = async (
  on: Cluster,
  topic: string,
  partitions: readonly number[],
): Promise<readonly (readonly [number, number])[]> => {
  const asked = partitions.map((partition) => ({ partition }));
  const [answer] = await on.fetchTopicsOffset([{ topic, partitions: asked, fromTimestamp: EARLIEST }]);
  return (answer?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)] as const);
};
