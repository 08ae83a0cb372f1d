import { isStemmaError } from '@stemma/errors';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import type Cluster from 'kafkajs/src/cluster/index.js';
import fetchRequest from 'kafkajs/src/protocol/requests/fetch/v11/request.js';
import { REQUEST_TIMEOUT } from './connections.ts';
import type { EncodedBatch } from './encode-batch.ts';
import { decodeFetch, type FetchResponse } from './fetch-response.ts';
import { needing, unreachable } from './kafka-errors.ts';
import { sendBatch, type PlacedBatch } from './produce-request.ts';
import { SteadyCluster, type SteadyClusterOptions } from './steady-cluster.ts';
import { describeTopicNow, type TopicNow } from './topic-now.ts';
import { Lost, unlessLost } from './unless-lost.ts';

/** From which offset to fetch a partition, and about how many stored bytes (at least one batch). */
export type FetchRequest = { readonly partition: number; readonly from: number; readonly maxBytes: number };

export type KafkaClient = {
  /** The offset of the first record (`start`), or the one after the last (`end`). */
  offset(partition: number, of: 'start' | 'end'): Promise<number>;
  /** The record batches of a partition from an offset on. */
  fetch(asked: FetchRequest): Promise<FetchResponse>;
  /**
   * Fetches partitions of one leader, and waits up to so many milliseconds for new records. It does not try again: after
   * an error the caller finds the new leaders with `leaders`. @throws any error
   */
  poll(fetches: readonly FetchRequest[], milliseconds: number): Promise<ReadonlyMap<number, FetchResponse>>;
  /** Sends one batch until the brokers acknowledge it. */
  produce(partition: number, batch: EncodedBatch): Promise<PlacedBatch>;
  /** What the brokers say of the topic now. */
  describeTopic(): Promise<TopicNow>;
  /** Groups partitions by the broker that leads them now; leaves out those without a leader. */
  leaders(partitions: readonly number[]): Promise<readonly (readonly number[])[]>;
  /** A number that rises when a connection was lost or a leader may have changed. */
  epoch(): number;
  close(): Promise<void>;
};

export type ClientOptions = SteadyClusterOptions;

const OUT_OF_RANGE = 1;
const DENIED = 29;
/** Milliseconds that the answer to a poll may come late. */
const POLL_TIMEOUT = 4000;
/**
 * Opens a client that sends requests to the leaders of one topic. It repeats a request until it succeeds, cannot succeed,
 * or its deadline is over. After every failure it looks up the leaders again, on new connections if necessary.
 *
 * @throws E_BROKERS_UNREACHABLE, E_LOG_CLOSED, E_FRAME_TOO_LARGE
 */
export const openClient = (options: ClientOptions): KafkaClient => {
  const { brokers, topic } = options;
  const steady = new SteadyCluster(options);
  const leaderOf = (partition: number): number => {
    const found = steady.now
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition);
    if (found === undefined || found.leader < 0)
      throw new Error(`partition ${partition} has no leader just now`);
    return found.leader;
  };
  const brokerOf = (partition: number): Promise<Broker> =>
    steady.now.findBroker({ nodeId: String(leaderOf(partition)) });

  const offsetAt = async (on: Cluster, partition: number, timestamp: -1 | -2): Promise<number> => {
    const asked = { topic, partitions: [{ partition }], fromTimestamp: timestamp };
    const offset = (await on.fetchTopicsOffset([asked]))[0]?.partitions[0]?.offset;
    if (offset === undefined) throw new Error('the broker did not name an offset');
    return Number(offset);
  };

  return {
    offset: (partition, of) =>
      steady.trying((on) => needing('DESCRIBE', options, offsetAt(on, partition, of === 'start' ? -2 : -1))),
    fetch: (asked) =>
      steady.trying(async () => {
        const broker = await brokerOf(asked.partition);
        const fetching = fetchFrom(broker, topic, [asked], 0);
        return needing(
          'READ',
          options,
          fetching.then((answer) => only(answer, asked.partition)),
        );
      }),
    poll: async (fetches, milliseconds) => {
      const mine = steady.now;
      const ask = async (): Promise<ReadonlyMap<number, FetchResponse>> => {
        const broker = await brokerOf(fetches[0]?.partition ?? 0);
        return fetchFrom(broker, topic, fetches, milliseconds);
      };
      try {
        const answer = await unlessLost(ask(), milliseconds);
        for (const { partition } of fetches) only(answer, partition);
        return answer;
      } catch (error) {
        if (error instanceof Lost) steady.leave(mine);
        if (!steady.isClosed) await steady.renew().catch(() => undefined);
        throw error;
      }
    },
    produce: (partition, batch) => {
      let sent = false;
      const sending = steady.trying(async () => {
        const broker = await brokerOf(partition);
        sent = true;
        return needing('WRITE', options, sendBatch(broker, topic, partition, batch, REQUEST_TIMEOUT));
      });
      return sending.catch((error: unknown) => {
        // E_LOG_CLOSED promises that nothing was written, and after a send that is not certain.
        throw sent && isStemmaError(error, 'E_LOG_CLOSED') ? unreachable(brokers, error) : error;
      });
    },
    describeTopic: () => {
      let turn = 0;
      return steady.trying((on) => needing('DESCRIBE_CONFIGS', options, describeTopicNow(on, topic, turn++)));
    },
    leaders: (partitions) =>
      steady.trying(async (on) => {
        const led = (): Map<number, number> =>
          new Map(
            on
              .findTopicPartitionMetadata(topic)
              .filter(({ partitionId, leader }) => leader >= 0 && partitions.includes(partitionId))
              .map(({ partitionId, leader }) => [partitionId, leader]),
          );
        if (led().size < partitions.length) await steady.renew();
        const groups = new Map<number, number[]>();
        for (const [partition, leader] of led())
          groups.set(leader, [...(groups.get(leader) ?? []), partition]);
        return [...groups.values()];
      }),
    epoch: () => steady.epoch,
    close: () => steady.close(),
  };
};

/** The answer about one partition. @throws Error if the broker does not lead it, or cannot read it now */
const only = (answer: ReadonlyMap<number, FetchResponse>, partition: number): FetchResponse => {
  const fetched = answer.get(partition);
  if (fetched?.error === 0 || fetched?.error === OUT_OF_RANGE) return fetched;
  const error = new Error(`partition ${partition}: error ${fetched?.error ?? 'none'}`);
  throw fetched?.error === DENIED ? Object.assign(error, { type: 'TOPIC_AUTHORIZATION_FAILED' }) : error;
};

/** The connection to each broker while it opens: if two callers opened one at the same time, kafkajs would leak one. */
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
        // Read uncommitted: otherwise an open transaction of another client hides the records after it.
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
      // A poll notices a stopped broker soon.
      requestTimeout: milliseconds > 0 ? milliseconds + POLL_TIMEOUT : REQUEST_TIMEOUT,
    });
    return answer as ReadonlyMap<number, FetchResponse>;
  } catch (error) {
    opening.delete(broker);
    void broker.disconnect().catch(() => undefined);
    throw error;
  }
};
