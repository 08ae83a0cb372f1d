import { openHome } from '@stemma/home';
import { openKafkaLog } from '@stemma/log-kafka';
import kafkajs from 'kafkajs';
import { timed } from '../measure.ts';
import { registerZstd } from './zstd.ts';

export type ConsumeInput = {
  readonly directory: string;
  readonly brokers: readonly string[];
  readonly prefix: string;
  readonly events: number;
  readonly frames: number;
};

/** Events a second, each way. */
export type Consumed = { readonly bare: number; readonly read: number; readonly folded: number };

/** The same frames read: by a consumer of kafkajs that counts them, by the log, and into the rows of a new home. */
export const consumeKafka = async (input: ConsumeInput): Promise<Consumed> => {
  const { brokers, prefix, events, frames, directory } = input;
  const all = frames * events * 1000;
  const log = await openKafkaLog({ brokers, prefix, create: false });
  const read = await timed(async () => {
    for (let at = 0, seen = -1; seen !== 0;) {
      const { records, next } = await log.read(0, at);
      [at, seen] = [next, records.length];
    }
  });
  await log.close();
  const bare = await timed(() => consumeBare(input));
  const address = `kafka://${brokers.join(',')}/${prefix}`;
  const home = await openHome({ directory, create: true, log: address });
  const folded = await timed(() => home.histories());
  await home.close();
  return { bare: all / bare.ms, read: all / read.ms, folded: all / folded.ms };
};

const consumeBare = async ({ brokers, prefix, frames }: ConsumeInput): Promise<void> => {
  registerZstd();
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `${prefix}-${process.pid}`, readUncommitted: true });
  await consumer.connect();
  await consumer.subscribe({ topic: `${prefix}.frames`, fromBeginning: true });
  await new Promise<void>((done) => {
    let seen = 0;
    void consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        seen += batch.messages.length;
        if (seen >= frames) done();
      },
    });
  });
  await consumer.disconnect();
};
