import kafkajs from 'kafkajs';

/** Sends a record that is none, without a key, to a partition of a topic: nobody knows whose it was. */
export const sendGarbage = async (
  brokers: readonly string[],
  topic: string,
  partition: number,
): Promise<void> => {
  const kafka = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  try {
    await producer.send({ topic, messages: [{ partition, key: null, value: Buffer.of(1, 2, 3) }] });
  } finally {
    await producer.disconnect();
  }
};
