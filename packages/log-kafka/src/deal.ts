import { setTimeout as sleep } from 'node:timers/promises';
import assignerProtocol from 'kafkajs/src/consumer/assignerProtocol.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import { openCluster, openSockets, turned } from './connections.ts';
import { isFinal, refused, typeOf } from './kafka-errors.ts';
import { framesTopic } from './topic.ts';

export type DealOptions = {
  /** `host:port` of some of the brokers; they name the others. */
  readonly brokers: readonly string[];
  /** Of the log whose partitions are dealt out. */
  readonly prefix: string;
  /** How many the log has: the topic may have more, which are left alone. Default: as many as the topic. */
  readonly partitions?: number;
  /** Who shares them: every process that names the same group gets a part. */
  readonly group: string;
  /** Ends it: the group is left, and the others get the part at once. */
  readonly signal: AbortSignal;
  /** Called with the part of this process, rising, whenever it changes hands; with none before it is dealt again. */
  readonly assigned: (partitions: readonly number[]) => void;
};

/** Milliseconds without a sign of life after which a part is dealt to others. */
const SESSION = 6000;
/** Milliseconds between two signs of life: after so many a new deal is noticed. */
const BEAT = 1000;
/** Milliseconds that a new deal waits for those who had a part. */
const REBALANCE = 8000;
/** Milliseconds that leaving may take. */
const LEAVING = 5000;
const PROTOCOL = 'stemma-round';

type Member = { readonly id: string; readonly generation: number; readonly coordinator: Broker };

/**
 * Shares the partitions of a log's frames among the processes of a group. Resolves when the signal aborts, having left the
 * group. Nothing that brokers do ends it but a refusal; while they are away, nothing is assigned. Two processes may
 * believe for a moment that a partition is theirs: the rows' cursor decides.
 *
 * It speaks the protocol of Kafka's consumer groups, over kafkajs's connections, and fetches nothing. kafkajs's own
 * consumer would do with its partitions paused, but says that it runs when it could not join, and throws where nobody
 * catches when it ends in the middle (docs/decisions/0043).
 *
 * @throws E_BROKERS_REFUSED
 */
export const dealPartitions = async (options: DealOptions): Promise<void> => {
  const { signal, assigned } = options;
  let part: readonly number[] = [];
  let thrown: { readonly error: unknown } | undefined;
  const tell = (partitions: readonly number[]): void => {
    if (part.length === 0 && partitions.length === 0) return;
    part = partitions;
    try {
      assigned(partitions);
    } catch (error) {
      thrown = { error };
      throw error;
    }
  };
  const member = { id: '' };
  for (let tries = 0; !signal.aborted; tries++) {
    const sockets = openSockets();
    const cluster = openCluster(turned(options.brokers, tries), sockets);
    let ending: NodeJS.Timeout | undefined;
    const hurry = (): void => {
      ending = setTimeout(() => sockets.end(), LEAVING);
    };
    signal.addEventListener('abort', hurry);
    try {
      await cluster.connect();
      await cluster.addTargetTopic(framesTopic(options.prefix));
      await takePart(cluster, options, member, (partitions) => {
        tries = 0;
        tell(partitions);
      });
    } catch (error) {
      if (thrown) throw thrown.error;
      if (isFinal(error)) throw refused(error, true);
      if (FORGOTTEN.includes(typeOf(error))) member.id = '';
    } finally {
      signal.removeEventListener('abort', hurry);
      clearTimeout(ending);
      sockets.end();
      await cluster.disconnect().catch(() => undefined);
    }
    tell([]);
    await pause(Math.min(50 * 2 ** tries, 1000), signal);
  }
};

const FORGOTTEN = ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID'];

/** Joins, and joins again at every new deal, until the signal aborts, and leaves. */
const takePart = async (
  cluster: Cluster,
  { group, prefix, partitions = Infinity, signal }: DealOptions,
  member: { id: string },
  tell: (partitions: readonly number[]) => void,
): Promise<void> => {
  const topic = framesTopic(prefix);
  const metadata = assignerProtocol.MemberMetadata.encode({ version: 1, topics: [topic] });
  const isOver = (): boolean => signal.aborted;
  for (;;) {
    const coordinator = await cluster.findGroupCoordinator({ groupId: group });
    if (isOver()) {
      if (member.id !== '') await coordinator.leaveGroup({ groupId: group, memberId: member.id });
      return;
    }
    const joined = await coordinator.joinGroup({
      groupId: group,
      sessionTimeout: SESSION,
      rebalanceTimeout: REBALANCE,
      memberId: member.id,
      groupProtocols: [{ name: PROTOCOL, metadata }],
    });
    const { generationId: generation, memberId: id } = joined;
    member.id = id;
    const leads = joined.leaderId === id;
    const { memberAssignment } = await coordinator.syncGroup({
      groupId: group,
      generationId: generation,
      memberId: id,
      groupAssignment: leads
        ? deal(
            (await partitionsOf(cluster, topic)).filter((each) => each < partitions),
            topic,
            joined.members,
          )
        : [],
    });
    const dealt = assignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment[topic] ?? [];
    if (!isOver()) tell([...dealt].sort((a, b) => a - b));
    await stay({ id, generation, coordinator }, group, signal);
    tell([]);
  }
};

/** Gives signs of life until there is a new deal, or the signal aborts. */
const stay = async (
  { id, generation, coordinator }: Member,
  group: string,
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    await pause(BEAT, signal);
    if (signal.aborted) return;
    try {
      await inTime(
        coordinator.heartbeat({ groupId: group, groupGenerationId: generation, memberId: id }),
        SESSION,
      );
    } catch (error) {
      if (typeOf(error) === 'REBALANCE_IN_PROGRESS') return;
      throw error;
    }
  }
};

const partitionsOf = async (cluster: Cluster, topic: string): Promise<readonly number[]> => {
  await cluster.refreshMetadata();
  return cluster
    .findTopicPartitionMetadata(topic)
    .map(({ partitionId }) => partitionId)
    .sort((a, b) => a - b);
};

/** To each member in turn. */
const deal = (
  partitions: readonly number[],
  topic: string,
  members: readonly { readonly memberId: string }[],
): readonly { readonly memberId: string; readonly memberAssignment: Buffer }[] => {
  const ids = members.map(({ memberId }) => memberId).sort(byText);
  return ids.map((memberId, turn) => ({
    memberId,
    memberAssignment: assignerProtocol.MemberAssignment.encode({
      version: 1,
      assignment: { [topic]: partitions.filter((_, i) => i % ids.length === turn) },
    }),
  }));
};

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

const inTime = async (what: Promise<unknown>, milliseconds: number): Promise<void> => {
  const over = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: over.signal }).then(() => {
    throw new Error('no answer in time');
  });
  try {
    await Promise.race([what, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
};
