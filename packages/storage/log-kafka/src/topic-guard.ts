import { fail } from '@stemma/errors';
import type { StoredLog } from '@stemma/log';
import type { KafkaClient } from './protocol/client.ts';
import { faultsOf } from './protocol/topic.ts';

/** Knows whether the topic still holds the log that was opened, whole and for ever. */
export type TopicGuard = {
  /**
   * Asks the brokers again if the last answer is older than {@link FRESH}.
   *
   * @throws E_LOG_MISMATCH if records are gone, if the settings let some go, or if it is another topic; E_BROKERS_…
   */
  check(): Promise<void>;
  /** An answer of a broker said that the partition begins there. */
  sawStart(partition: number, start: number): void;
  /** From now on the topic must hold this log. */
  identify(log: StoredLog): void;
  /** A number that rises when another topic took the name. */
  epoch(): number;
  close(): Promise<void>;
};

/**
 * Milliseconds for which an answer counts. Retention and compaction throw records away seconds after they were switched on, and
 * nobody deletes a topic, makes another and fills it within this time.
 */
const FRESH = 250;

export type GuardedTopic = {
  readonly topic: string;
  readonly connect: () => Pick<KafkaClient, 'describeTopic' | 'close'>;
  /** What the topic's first record says of its log. */
  readonly readStored: () => Promise<StoredLog | undefined>;
  /** Called when another topic has the name: what was read of the old one says nothing about it. */
  readonly forget: () => void;
};

/** What the brokers said last, and which log the topic must hold. */
type GuardState = {
  client: ReturnType<GuardedTopic['connect']> | undefined;
  /** A look that is under way. */
  looking: Promise<void> | undefined;
  lookedAt: number;
  /** The id that the brokers gave the topic. */
  id: string | undefined;
  epoch: number;
  /** The log that the topic must hold. */
  expected: StoredLog | undefined;
  /** Why the topic cannot hold a log. */
  faults: readonly string[];
};

export const openTopicGuard = ({ topic, connect, readStored, forget }: GuardedTopic): TopicGuard => {
  const state: GuardState = {
    client: undefined,
    looking: undefined,
    lookedAt: -Infinity,
    id: undefined,
    epoch: 0,
    expected: undefined,
    faults: [],
  };
  const starts = new Map<number, number>();

  const look = async (): Promise<void> => {
    state.client ??= connect();
    const begun = performance.now();
    const now = await state.client.describeTopic();
    for (const [partition, start] of now.starts) starts.set(partition, start);
    state.faults = faultsOf(now.settings).map((fault) => `the topic ${topic} cannot hold a log: ${fault}`);
    if (state.id !== undefined && now.id !== state.id) {
      forget();
      state.epoch++;
      // It may be a copy, and hold the same records: then readers find that their cursors hold.
      const stored = await readStored();
      if (stored?.id !== state.expected?.id) {
        state.faults = [`the topic ${topic} was deleted and made again: it ${holds(stored)}`];
        return;
      }
    }
    state.id = now.id;
    state.lookedAt = begun;
  };
  const refuse = (): void => {
    const partitions = state.expected?.partitions ?? Infinity;
    const [cut] = [...starts].filter(([partition, start]) => start > 0 && partition < partitions);
    if (cut !== undefined)
      throw fail('E_LOG_MISMATCH', `partition ${cut[0]} of ${topic} has lost its records before ${cut[1]}`, {
        topic,
        partition: cut[0],
        start: cut[1],
      });
    if (state.faults.length > 0) throw fail('E_LOG_MISMATCH', state.faults.join('; '), { topic });
  };

  return {
    check: async () => {
      if (performance.now() - state.lookedAt > FRESH)
        await (state.looking ??= look().finally(() => (state.looking = undefined)));
      refuse();
    },
    sawStart: (partition, start) => void starts.set(partition, start),
    identify: (log) => {
      state.expected = log;
    },
    epoch: () => state.epoch,
    close: async () => state.client?.close(),
  };
};

const holds = (stored: StoredLog | undefined): string =>
  stored === undefined ? 'is empty' : `holds the log ${stored.id}`;
