import type { Entry } from '@stemma/log';
import kafkajs from 'kafkajs';
import { chunks, eventsOf, readFrames, SINGLES } from './frames.ts';

export type WriteSinglesInput = {
  readonly brokers: readonly string[];
  /** The log with the frames, in one partition. */
  readonly prefix: string;
  /** Events in each of its frames. */
  readonly events: number;
};

/** How many there are. */
export type WrittenSingles = { readonly events: number };

/**
 * The events of a log's frames once more, in the topic `singles` beside it: one uncompressed event a record, as an application without
 * frames would store them.
 */
export const writeSingles = async ({
  brokers,
  prefix,
  events,
}: WriteSinglesInput): Promise<WrittenSingles> => {
  const frames = await readFrames(brokers, prefix);
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const topic = `${prefix}.singles`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic }], waitForLeaders: true });
  await admin.disconnect();
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  const toMessage = ({ key, bytes }: Entry) => ({ partition: 0, key, value: Buffer.from(bytes) });
  let written = 0;
  // A few frames at a time: the messages of all would take hundreds of megabytes more.
  for (const some of chunks(frames, Math.ceil(SINGLES / events))) {
    const messages = eventsOf(some, events).map(toMessage);
    await producer.send({ topic, acks: -1, compression: kafkajs.CompressionTypes.None, messages });
    written += messages.length;
  }
  await producer.disconnect();
  return { events: written };
};
