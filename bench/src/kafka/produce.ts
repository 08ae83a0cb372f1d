import { openKafkaLog } from '@stemma/log-kafka';
import type { Entry } from '@stemma/log';
import kafkajs from 'kafkajs';
import { median, timed } from '../measure.ts';
import { chunks, eventsOf, readFrames, SINGLES } from './frames.ts';
import { registerZstd } from './zstd.ts';

export type ProduceInput = {
  readonly brokers: readonly string[];
  /** The log with the frames, in one partition. */
  readonly prefix: string;
  /** Events in each of its frames. */
  readonly events: number;
  /** Frames a send. */
  readonly group: number;
  /** Sends under way at once. */
  readonly ahead: number;
};

/** Each way sends everything so many times: first until code is compiled, here and at the broker, then for the medians. */
const PASSES = { warming: 4, counted: 3 };

/** Events a second, each way. */
export type Produced = { readonly bare: number; readonly ours: number; readonly single: number };

/**
 * The same frames again: by kafkajs alone (zstd, so many frames a send), by the log, and as kafkajs does it unless it is told
 * otherwise: one event a record, uncompressed. Each has as many sends under way at once, and all replicas acknowledge.
 */
export const produceKafka = async (input: ProduceInput): Promise<Produced> => {
  const { brokers, prefix, events, group, ahead } = input;
  registerZstd();
  const frames = await readFrames(brokers, prefix);
  const one = eventsOf(frames.slice(0, Math.ceil(50_000 / events)), events);
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

  /** Events a second, when so many of the groups are under way at once. */
  const rate = async (
    groups: readonly (readonly Entry[])[],
    count: number,
    sendGroup: (group: readonly Entry[]) => Promise<unknown>,
  ): Promise<number> => {
    let next = 0;
    const sendOn = async (): Promise<void> => {
      for (let some = groups[next++]; some !== undefined; some = groups[next++]) await sendGroup(some);
    };
    const { ms } = await timed(() => Promise.all(Array.from({ length: ahead }, sendOn)));
    return (count * 1000) / ms;
  };
  const grouped = chunks(frames, group);
  const singles = chunks(one, SINGLES);
  const passes: Produced[] = [];
  for (let pass = 0; pass < PASSES.warming + PASSES.counted; pass++)
    passes.push({
      bare: await rate(grouped, frames.length * events, (some) =>
        send(bare, kafkajs.CompressionTypes.ZSTD, some),
      ),
      ours: await rate(grouped, frames.length * events, (some) => log.append(0, some)),
      single: await rate(singles, one.length, (some) => send(single, kafkajs.CompressionTypes.None, some)),
    });
  await producer.disconnect();
  await log.close();
  const over = (of: (pass: Produced) => number): number => median(passes.slice(PASSES.warming).map(of));
  return {
    bare: over(({ bare }) => bare),
    ours: over(({ ours }) => ours),
    single: over(({ single }) => single),
  };
};
