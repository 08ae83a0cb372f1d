import { fail } from '@stemma/errors';
import { partitionOf } from '@stemma/log';
import { openClient } from './protocol/client.ts';
import { encodeBatch, type Message } from './protocol/encode-batch.ts';
import { openTopic } from './protocol/topic.ts';
import { readKafkaSecurity, type KafkaSecurity } from './security/settings.ts';

/** A record for readers that are not ours: `value` is text, headers are texts too. */
export type OutRecord = {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type PublisherOptions = {
  readonly brokers: readonly string[];
  readonly topic: string;
  /** Of a topic that is made, default 6; one that is there must have as many if it is given. */
  readonly partitions?: number;
  /** Milliseconds after which a send that nobody acknowledges is given up. Default 10,000. */
  readonly deadline?: number;
  /** Default: what the variables `STEMMA_KAFKA_…` of this process say. */
  readonly security?: KafkaSecurity;
};

export type Publisher = {
  readonly topic: string;
  readonly partitions: number;
  /** The id of the cluster that the brokers are of. */
  readonly cluster: string;
  /** Of each partition the offset behind its last record. @throws E_BROKERS_UNREACHABLE, E_BROKERS_REFUSED */
  ends(): Promise<readonly number[]>;
  /**
   * Resolves when all in-sync replicas have all of the records. Equal keys are in one partition, in the order given and
   * behind what was sent before. What rejected may have been written, all or in part: it may be sent again.
   *
   * @throws E_BROKERS_UNREACHABLE: send the same again. E_BROKERS_REFUSED, E_FRAME_TOO_LARGE, E_LOG_CLOSED
   */
  send(records: readonly OutRecord[]): Promise<SentOffsets>;
  close(): Promise<void>;
};

/** The offset behind what was sent, of each partition that something was sent to. */
export type SentOffsets = ReadonlyMap<number, number>;

/** What one send takes before compression: more than one record only below it. */
const MAX_SEND_BYTES = 900 * 1024;
const DEADLINE = 10_000;
const PARTITIONS = 6;

/**
 * Writes records to a topic of their own, which is made if it is not there, with infinite retention. The partition of a
 * key is that of a history in a log of as many partitions.
 *
 * @throws E_BROKERS_UNREACHABLE, E_BROKERS_REFUSED; E_USAGE for the topic of a log; E_LOG_MISMATCH if the topic has
 *   another number of partitions
 */
export const openPublisher = async (options: PublisherOptions): Promise<Publisher> => {
  const { brokers, topic, deadline = DEADLINE } = options;
  const security = options.security ?? readKafkaSecurity(process.env);
  if (topic.endsWith('.frames'))
    throw fail('E_USAGE', `${topic} is the topic of a log: name another topic to publish to`);
  const facts = await openTopic({
    brokers,
    security,
    topic,
    deadline,
    create: options.partitions ?? PARTITIONS,
  });
  const { partitions = 0, cluster = '' } = facts ?? {};
  if (options.partitions !== undefined && options.partitions !== partitions)
    throw fail(
      'E_LOG_MISMATCH',
      `the topic ${topic} has ${partitions} partitions, not ${options.partitions}`,
    );
  const client = openClient({ brokers, security, topic, deadline });
  /** The last send to each partition: several at once would change places. */
  const last = new Map<number, Promise<number>>();

  const sendTo = (partition: number, messages: readonly Message[]): Promise<number> => {
    const mine = (last.get(partition) ?? Promise.resolve(0))
      .catch(() => undefined)
      .then(async () => {
        let end = 0;
        for (const batch of batchesOf(messages))
          end = (await client.produce(partition, await encodeBatch(batch, Date.now()))).base + batch.length;
        return end;
      });
    last.set(partition, mine);
    return mine;
  };

  return {
    topic,
    partitions,
    cluster,
    ends: () =>
      Promise.all(Array.from({ length: partitions }, (_, partition) => client.offset(partition, 'end'))),
    send: async (records) => {
      const groups = new Map<number, Message[]>();
      for (const { key, value, headers } of records) {
        const partition = partitionOf(key, partitions);
        const group = groups.get(partition) ?? [];
        groups.set(partition, group);
        group.push({ key, value: Buffer.from(value), headers });
      }
      const sent = new Map<number, number>();
      const outcomes = await Promise.allSettled(
        [...groups].map(async ([partition, messages]) =>
          sent.set(partition, await sendTo(partition, messages)),
        ),
      );
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
      return sent;
    },
    close: () => client.close(),
  };
};

/** Messages in order, as many in one batch as one send takes. */
function* batchesOf(messages: readonly Message[]): Generator<readonly Message[]> {
  let batch: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = sizeOf(message);
    if (batch.length > 0 && bytes + size > MAX_SEND_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

const sizeOf = ({ key, value, headers = {} }: Message): number => {
  let bytes = 32 + key.length + value.length;
  for (const [name, text] of Object.entries(headers)) bytes += 8 + name.length + text.length;
  return bytes;
};
