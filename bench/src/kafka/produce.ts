import { openKafkaLog } from '@stemma/log-kafka';
import { openRecord, type Entry } from '@stemma/log';
import kafkajs from 'kafkajs';
import { timed } from '../measure.ts';

export type ProduceInput = {
  readonly brokers: readonly string[];
  /** The log with the frames, in one partition. */
  readonly prefix: string;
  /** Events in each of its frames. */
  readonly events: number;
  /** Frames a send. */
  readonly group: number;
};

/** Events a second, each way. */
export type Produced = { readonly bare: number; readonly ours: number; readonly single: number };

/**
 * The same frames again: by kafkajs alone (zstd as we set it up, sends of so many frames, one after the other), by the
 * log, and as kafkajs does it unless it is told otherwise: one event a record, uncompressed, sends of a thousand.
 */
export const produceKafka = async ({ brokers, prefix, events, group }: ProduceInput): Promise<Produced> => {
  const frames = await readFrames(brokers, prefix);
  const groups = chunks(frames, group);
  const log = await openKafkaLog({ brokers, prefix: `${prefix}-ours`, partitions: 1 });
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const [bare, single] = [`${prefix}-bare`, `${prefix}-single`];
  await admin.createTopics({ topics: [bare, single].map((topic) => ({ topic })), waitForLeaders: true });
  await admin.disconnect();
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  const toMessage = ({ key, bytes }: Entry) => ({ partition: 0, key, value: Buffer.from(bytes) });
  const send = (topic: string, compression: kafkajs.CompressionTypes, entries: readonly Entry[]) =>
    producer.send({ topic, acks: -1, compression, messages: entries.map(toMessage) });

  // Everything compiled, and the connections made.
  await send(bare, kafkajs.CompressionTypes.ZSTD, groups[0] ?? []);
  await log.append(0, groups[0] ?? []);
  const byKafkajs = await timed(async () => {
    for (const some of groups) await send(bare, kafkajs.CompressionTypes.ZSTD, some);
  });
  const byLog = await timed(async () => {
    for (const some of groups) await log.append(0, some);
  });
  const one = frames.slice(0, Math.ceil(20_000 / events)).flatMap(({ key, bytes }) => {
    const size = Math.ceil(bytes.length / events);
    return Array.from({ length: events }, (_, i) => ({
      key,
      bytes: bytes.subarray(i * size, (i + 1) * size),
    }));
  });
  const byDefault = await timed(async () => {
    for (const some of chunks(one, 1000)) await send(single, kafkajs.CompressionTypes.None, some);
  });
  await producer.disconnect();
  await log.close();
  const all = frames.length * events * 1000;
  return { bare: all / byKafkajs.ms, ours: all / byLog.ms, single: (one.length * 1000) / byDefault.ms };
};

const readFrames = async (brokers: readonly string[], prefix: string): Promise<readonly Entry[]> => {
  const log = await openKafkaLog({ brokers, prefix, create: false });
  const frames: Entry[] = [];
  for (let at = 0; ;) {
    const { records, next } = await log.read(0, at);
    if (records.length === 0) break;
    for (const { key, bytes } of records)
      if (key !== null && openRecord(bytes) !== undefined && !key.startsWith('log:'))
        frames.push({ key, bytes });
    at = next;
  }
  await log.close();
  return frames;
};

const chunks = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
