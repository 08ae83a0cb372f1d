import kafkajs from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** A record as anybody's client reads it. */
export type TopicRecord = {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Every record of a topic as it ends now, each partition in order: read with the plain client. */
export const readTopic = async (
  brokers: readonly string[],
  topic: string,
): Promise<readonly TopicRecord[]> => {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer),
    decompress: async (buffer: Buffer) => zstdDecompressSync(buffer),
  });
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const missing = await endsOf(kafka, topic);
  const records: TopicRecord[] = [];
  if (missing.size === 0) return records;
  const consumer = kafka.consumer({ groupId: `read-${randomUUID()}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatch: async ({ batch: { partition, messages } }) => {
      for (const { offset, key, value, headers = {} } of messages)
        records.push({
          partition,
          offset: Number(offset),
          key: String(key),
          value: String(value),
          headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)])),
        });
      if (Number(messages.at(-1)?.offset ?? -1) + 1 >= (missing.get(partition) ?? 0))
        missing.delete(partition);
    },
  });
  for (const until = Date.now() + 120_000; missing.size > 0 && Date.now() < until;) await sleep(50);
  await consumer.disconnect();
  if (missing.size > 0) throw new Error(`${topic} was not read to its end in 120 s`);
  return records;
};

/** Where each partition ends that has something. */
const endsOf = async (kafka: kafkajs.Kafka, topic: string): Promise<Map<number, number>> => {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(topic);
    return new Map(
      offsets
        .filter(({ low, high }) => Number(high) > Number(low))
        .map(({ partition, high }) => [partition, Number(high)]),
    );
  } finally {
    await admin.disconnect();
  }
};
