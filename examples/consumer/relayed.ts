import kafkajs from 'kafkajs';
import { teachZstd } from './zstd.ts';

/*
 * Reads the relay's topic: one record an event (docs/events.md). Nothing of Stemma is needed.
 * Arguments: brokers (HOST:PORT,…), the topic, and the name of the consumer group.
 */
const [brokers = '127.0.0.1:9092', topic = 'stemma-events', groupId = 'example'] = process.argv.slice(2);
teachZstd();
const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.ERROR });
const consumer = kafka.consumer({ groupId });
/** The last event seen of each history: a record that is not after it is a repeat. Keep it with your own results. */
const last = new Map<string, readonly [seq: number, index: number]>();

await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({
  eachMessage: async ({ message }) => {
    const event = JSON.parse(String(message.value)) as {
      readonly type: string;
      readonly history: string;
      readonly seq: number;
      readonly index: number;
    };
    const { type, history, seq, index } = event;
    const [lastSeq, lastIndex] = last.get(history) ?? [-1, -1];
    if (seq < lastSeq || (seq === lastSeq && index <= lastIndex)) return;
    last.set(history, [seq, index]);
    console.log(JSON.stringify({ history, seq, index, type }));
  },
});
