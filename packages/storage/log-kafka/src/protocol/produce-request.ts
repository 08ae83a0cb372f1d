import type { Broker } from 'kafkajs/src/cluster/index.js';
import response from 'kafkajs/src/protocol/requests/produce/v7/response.js';
import type { EncodedBatch } from './encode-batch.ts';

const PRODUCE = 0;
/** The first version that takes batches compressed with zstd; Kafka has it since 2.1. */
const VERSION = 7;
const ALL_IN_SYNC = -1;

/** Where a broker put a batch: the offset of its first record, and of the first record that the partition still has. */
export type PlacedBatch = { readonly base: number; readonly start: number };

/**
 * Sends one batch to the broker that leads the partition, and waits until all in-sync replicas have it. It does not try
 * again.
 *
 * @param timeout milliseconds that the broker may wait for the replicas
 * @throws KafkaJSProtocolError with the broker's error; another error if no answer came
 */
export const sendBatch = async (
  broker: Broker,
  topic: string,
  partition: number,
  batch: EncodedBatch,
  timeout: number,
): Promise<PlacedBatch> => {
  try {
    const connection = await broker.connectionPool.getConnection(0);
    await connection.authenticate();
    connection.failIfNotConnected();
    const correlationId = connection.nextCorrelationId();
    const head = encodeHead(correlationId, connection.clientId, topic, partition, batch, timeout);
    // What `connection.send` does, without its two copies of the batch.
    const { payload } = await new Promise<{ payload: Buffer }>((resolve, reject) => {
      connection.requestQueue.push({
        entry: { apiKey: PRODUCE, apiName: 'Produce', apiVersion: VERSION, correlationId, resolve, reject },
        expectResponse: true,
        requestTimeout: null,
        sendRequest: () => {
          connection.socket.cork();
          for (const part of [head, batch.head, batch.body]) connection.socket.write(part);
          connection.socket.uncork();
        },
      });
    });
    const decoded = await response.decode(payload);
    connection.requestQueue.maybeThrottle(decoded.clientSideThrottleTime);
    const { topics } = await response.parse(decoded);
    const placed = topics[0]?.partitions.find((each) => each.partition === partition);
    if (placed === undefined) throw new Error('the broker left the partition out');
    return { base: Number(placed.baseOffset), start: Number(placed.logStartOffset) };
  } catch (error) {
    if (error instanceof Error && error.name === 'KafkaJSConnectionClosedError') await broker.disconnect();
    throw error;
  }
};

/**
 * A produce request up to its batch. Sizes in bytes: size 4, key 2, version 2, number 4, client 2 + text, transactional id 2
 * (−1: none), acks 2, timeout 4, [topic 2 + text, [partition 4, size of the batch 4, batch]].
 */
const encodeHead = (
  number: number,
  client: string,
  topic: string,
  partition: number,
  { head, body }: EncodedBatch,
  timeout: number,
): Buffer => {
  const bytes = Buffer.alloc(40 + Buffer.byteLength(client) + Buffer.byteLength(topic));
  const size = head.length + body.length;
  let at = bytes.writeInt32BE(bytes.length - 4 + size);
  const text = (value: string): void => {
    at = bytes.writeInt16BE(Buffer.byteLength(value), at);
    at += bytes.write(value, at);
  };
  at = bytes.writeInt16BE(PRODUCE, at);
  at = bytes.writeInt16BE(VERSION, at);
  at = bytes.writeInt32BE(number, at);
  text(client);
  at = bytes.writeInt16BE(-1, at);
  at = bytes.writeInt16BE(ALL_IN_SYNC, at);
  at = bytes.writeInt32BE(timeout, at);
  at = bytes.writeInt32BE(1, at);
  text(topic);
  at = bytes.writeInt32BE(1, at);
  at = bytes.writeInt32BE(partition, at);
  bytes.writeInt32BE(size, at);
  return bytes;
};
