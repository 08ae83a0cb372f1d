import { openHome } from '@stemma/home';
import { openKafkaLog } from '@stemma/log-kafka';
import kafkajs from 'kafkajs';
import { timed } from '../measure.ts';
import { registerZstd } from './zstd.ts';

export type ConsumeInput = {
  readonly directory: string;
  readonly brokers: readonly string[];
  readonly prefix: string;
  /** All events. */
  readonly events: number;
  /** The records that have them. */
  readonly records: number;
  readonly consumer: Consumer;
};

/**
 * Who reads: kafkajs alone, which counts the records of the log, or those of the topic that has one event a record; the log; a new home,
 * into all rows. Each in a process of its own, which has done nothing before.
 */
export type Consumer = 'kafkajs' | 'kafkajs, one event a record' | 'log' | 'home';

/** Events a second: of kafkajs from connecting to the last message, of us from opening the log to the last record or row. */
export type Consumed = { readonly perSecond: number };

/** The same events, read by one of those who can, whose process is as new as the other's. */
export const consumeKafka = async (input: ConsumeInput): Promise<Consumed> => {
  const ways = {
    kafkajs: consumeBare('frames'),
    'kafkajs, one event a record': consumeBare('singles'),
    log: readAll,
    home: foldAll,
  };
  const close: (() => Promise<void>)[] = [];
  const { ms } = await timed(() => ways[input.consumer](input, close));
  for (const each of close) await each();
  return { perSecond: (input.events * 1000) / ms };
};

/** Closing is in nobody's time. */
type Consume = (input: ConsumeInput, close: (() => Promise<void>)[]) => Promise<void>;

const readAll: Consume = async ({ brokers, prefix }, close) => {
  const log = await openKafkaLog({ brokers, prefix, create: false });
  close.push(() => log.close());
  for (let at = 0, seen = -1; seen !== 0;) {
    const { records, next } = await log.read(0, at);
    [at, seen] = [next, records.length];
  }
};

const foldAll: Consume = async ({ brokers, prefix, directory }, close) => {
  const home = await openHome({
    directory,
    create: true,
    log: `kafka://${brokers.join(',')}/${prefix}`,
  });
  close.push(() => home.close());
  await home.read.histories();
};

const consumeBare =
  (topic: string): Consume =>
  async ({ brokers, prefix, records }, close) => {
    registerZstd();
    const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `${prefix}-${process.pid}`, readUncommitted: true });
    close.push(() => consumer.disconnect());
    await consumer.connect();
    await consumer.subscribe({ topic: `${prefix}.${topic}`, fromBeginning: true });
    await new Promise<void>((done) => {
      let seen = 0;
      void consumer.run({
        autoCommit: false,
        eachBatch: async ({ batch }) => {
          seen += batch.messages.length;
          if (seen >= records) done();
        },
      });
    });
  };
