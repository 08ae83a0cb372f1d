import { backOff, fail, isStemmaError } from '@stemma/errors';
import kafkajs from 'kafkajs';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import fetchRequest from 'kafkajs/src/protocol/requests/fetch/v11/request.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCluster, openSockets, REQUEST_TIMEOUT, turned } from './connections.ts';
import { decodeFetch, type FetchResponse } from './fetch-response.ts';
import { isFinal, refused, unreachable } from './kafka-errors.ts';

/** Where a partition is fetched from, and about how many bytes as they are stored (one batch at least). */
export type FetchRequest = { readonly partition: number; readonly from: number; readonly maxBytes: number };

export type Message = {
  readonly key: string;
  readonly value: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

export type KafkaClient = {
  /** The offset of the first record, or behind the last. */
  offset(partition: number, of: 'start' | 'end'): Promise<number>;
  /** What a partition has from an offset on. */
  fetch(asked: FetchRequest): Promise<FetchResponse>;
  /**
   * What partitions of one leader have; waits so many milliseconds for something. Not tried again: whoever leads them now
   * is asked for with `leaders`. @throws any error
   */
  poll(fetches: readonly FetchRequest[], milliseconds: number): Promise<ReadonlyMap<number, FetchResponse>>;
  /** Appends one batch, in order, and again until the brokers acknowledge it; gives the offset of its first record. */
  produce(partition: number, messages: readonly Message[]): Promise<number>;
  /** Partitions by the broker that leads them now; those that nobody leads are left out. */
  leaders(partitions: readonly number[]): Promise<readonly (readonly number[])[]>;
  /** Rises when a connection was lost or a leader may have changed. */
  epoch(): number;
  close(): Promise<void>;
};

export type ClientOptions = {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** Milliseconds after which a request that does not succeed is given up. */
  readonly deadline: number;
};

const OUT_OF_RANGE = 1;
/** Milliseconds that the answer to a poll may be late. */
const POLL_TIMEOUT = 4000;
/** Before the third try and later ones; the second is made at once, as leaders have just been looked up again. */
const PAUSES = { first: 20, longest: 500 };

/**
 * Requests to the leaders of one topic, tried again until they succeed, cannot succeed, or the deadline is over. Leaders
 * are looked up again after every failure, on new connections if need be.
 *
 * @throws E_BROKERS_UNREACHABLE, E_LOG_CLOSED, E_FRAME_TOO_LARGE
 */
export const openClient = ({ brokers, topic, deadline }: ClientOptions): KafkaClient => {
  let epoch = 0;
  const sockets = openSockets(() => {
    epoch++;
  });
  let cluster = openCluster(brokers, sockets);
  let known = false;
  let renewing: Promise<void> | undefined;
  let made = 0;
  let closed = false;
  const isClosed = (): boolean => closed;

  const renewNow = async (): Promise<void> => {
    epoch++;
    const mine = cluster;
    try {
      if (known) {
        await mine.refreshMetadata();
        return;
      }
      await mine.connect();
      await mine.addTargetTopic(topic);
      known = true;
    } catch (error) {
      known = false;
      cluster = openCluster(turned(brokers, ++made), sockets);
      void mine.disconnect().catch(() => undefined);
      throw error;
    }
  };
  const renew = (): Promise<void> => (renewing ??= renewNow().finally(() => (renewing = undefined)));

  const trying = async <T>(attempt: (cluster: Cluster) => Promise<T>): Promise<T> => {
    const until = performance.now() + deadline;
    for (let tries = 0; ; tries++) {
      if (isClosed()) throw fail('E_LOG_CLOSED', 'the log was closed');
      try {
        if (!known) await renew();
        return await attempt(cluster);
      } catch (error) {
        if (isClosed()) throw fail('E_LOG_CLOSED', 'the log was closed');
        if (isStemmaError(error)) throw error;
        if (isFinal(error)) throw refused(error, tries === 0);
        if (performance.now() >= until) throw unreachable(brokers, error);
        await renew().catch(() => undefined);
        if (tries > 0) await sleep(backOff(tries, PAUSES));
      }
    }
  };

  const leaderOf = (partition: number): number => {
    const found = cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition);
    if (found === undefined || found.leader < 0)
      throw new Error(`partition ${partition} has no leader just now`);
    return found.leader;
  };
  const brokerOf = (partition: number): Promise<Broker> =>
    cluster.findBroker({ nodeId: String(leaderOf(partition)) });

  const offsetAt = async (on: Cluster, partition: number, timestamp: -1 | -2): Promise<number> => {
    const asked = { topic, partitions: [{ partition }], fromTimestamp: timestamp };
    const offset = (await on.fetchTopicsOffset([asked]))[0]?.partitions[0]?.offset;
    if (offset === undefined) throw new Error('the broker did not name an offset');
    return Number(offset);
  };

  return {
    offset: (partition, of) => trying((on) => offsetAt(on, partition, of === 'start' ? -2 : -1)),
    fetch: (asked) =>
      trying(async () => {
        const broker = await brokerOf(asked.partition);
        return only(await fetchFrom(broker, topic, [asked], 0), asked.partition);
      }),
    poll: async (fetches, milliseconds) => {
      try {
        const broker = await brokerOf(fetches[0]?.partition ?? 0);
        const answer = await fetchFrom(broker, topic, fetches, milliseconds);
        for (const { partition } of fetches) only(answer, partition);
        return answer;
      } catch (error) {
        if (!isClosed()) await renew().catch(() => undefined);
        throw error;
      }
    },
    produce: (partition, messages) => {
      const timestamp = String(Date.now());
      const stamped = messages.map((message) => ({ headers: {}, ...message, timestamp }));
      let sent = false;
      const sending = trying(async () => {
        const broker = await brokerOf(partition);
        sent = true;
        const { topics } = await broker.produce({
          topicData: [{ topic, partitions: [{ partition, messages: stamped }] }],
          acks: -1,
          timeout: REQUEST_TIMEOUT,
          compression: kafkajs.CompressionTypes.ZSTD,
        });
        const placed = topics[0]?.partitions.find((each) => each.partition === partition);
        if (placed === undefined) throw new Error('the broker left the partition out');
        return Number(placed.baseOffset);
      });
      return sending.catch((error: unknown) => {
        // E_LOG_CLOSED would promise that nothing was written.
        throw sent && isStemmaError(error, 'E_LOG_CLOSED') ? unreachable(brokers, error) : error;
      });
    },
    leaders: (partitions) =>
      trying(async (on) => {
        const led = (): Map<number, number> =>
          new Map(
            on
              .findTopicPartitionMetadata(topic)
              .filter(({ partitionId, leader }) => leader >= 0 && partitions.includes(partitionId))
              .map(({ partitionId, leader }) => [partitionId, leader]),
          );
        if (led().size < partitions.length) await renew();
        const groups = new Map<number, number[]>();
        for (const [partition, leader] of led())
          groups.set(leader, [...(groups.get(leader) ?? []), partition]);
        return [...groups.values()];
      }),
    epoch: () => epoch,
    close: async () => {
      closed = true;
      sockets.end();
      await cluster.disconnect().catch(() => undefined);
    },
  };
};

/** What was answered about a partition. @throws Error if it is not led there, or cannot be read now */
const only = (answer: ReadonlyMap<number, FetchResponse>, partition: number): FetchResponse => {
  const fetched = answer.get(partition);
  if (fetched?.error === 0 || fetched?.error === OUT_OF_RANGE) return fetched;
  throw new Error(`partition ${partition}: error ${fetched?.error ?? 'none'}`);
};

/** The connection on which each broker is fetched from: of two that open it at once, one would be lost. */
const opening = new WeakMap<Broker, Promise<unknown>>();

const fetchFrom = async (
  broker: Broker,
  topic: string,
  fetches: readonly FetchRequest[],
  milliseconds: number,
): Promise<ReadonlyMap<number, FetchResponse>> => {
  const opened = opening.get(broker) ?? broker.connectionPool.getConnection(1);
  opening.set(broker, opened);
  try {
    await opened;
    const answer = await broker.connectionPool.send({
      request: fetchRequest({
        replicaId: -1,
        // Else an open transaction of somebody else would hide what stands behind it.
        isolationLevel: 0,
        maxWaitTime: milliseconds,
        minBytes: 1,
        maxBytes: Math.max(...fetches.map(({ maxBytes }) => maxBytes)),
        topics: [
          {
            topic,
            partitions: fetches.map(({ partition, from, maxBytes }) => ({
              partition,
              fetchOffset: from,
              maxBytes,
            })),
          },
        ],
      }),
      response: {
        decode: async (payload) => ({ clientSideThrottleTime: 0, payload }),
        parse: async (decoded) => decodeFetch((decoded as { payload: Buffer }).payload),
      },
      // A broker that is stopped is noticed soon by who polls it.
      requestTimeout: milliseconds > 0 ? milliseconds + POLL_TIMEOUT : REQUEST_TIMEOUT,
    });
    return answer as ReadonlyMap<number, FetchResponse>;
  } catch (error) {
    opening.delete(broker);
    void broker.disconnect().catch(() => undefined);
    throw error;
  }
};
