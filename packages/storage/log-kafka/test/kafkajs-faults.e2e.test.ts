import kafkajs from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import loggers from 'kafkajs/src/loggers/index.js';
import type Connection from 'kafkajs/src/network/connection.js';
import ConnectionPool from 'kafkajs/src/network/connectionPool.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import decodeBatch from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { MAX_BATCH_BYTES } from '../src/protocol/record-batches.ts';
import { batchOf } from './batches.ts';

/*
 * The faults of kafkajs as it is, which src/protocol answers (its README.md has the table). Nothing here may import what
 * mends them. A test that fails with a newer kafkajs says that its answer may go.
 */

const logger = loggers.createLogger({ level: 0, logCreator: () => () => undefined });

/** A broker that does with each connection what the test says, and connections of kafkajs to it. */
const brokerThat = async (serve: (socket: Socket, turn: number) => void) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket, sockets.push(socket) - 1);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pool = new ConnectionPool({
    host: '127.0.0.1',
    port,
    clientId: 'test',
    connectionTimeout: 60_000,
    requestTimeout: 60_000,
    logger,
    socketFactory: (to: { readonly onConnect: () => void }) => connect(port, '127.0.0.1', to.onConnect),
  });
  return {
    pool,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
      await pool.destroy();
    },
  };
};

/** Sends a request, whose bytes are there when `encoded` is. */
const send = (connection: Connection, apiVersion: number, encoded: Promise<void> = Promise.resolve()) =>
  connection.send({
    request: {
      apiKey: 18,
      apiVersion,
      apiName: 'Test',
      encode: async () => {
        await encoded;
        return new Encoder();
      },
    },
    response: { decode: async () => ({}), parse: async () => 'answered' },
  });

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
/** An answer to the request of this number: the length of what follows, and the number. */
const answerTo = (request: number): Buffer => Buffer.concat([int32(4), int32(request)]);

const turns = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('kafkajs 2.2.4 without our patches', () => {
  it('parses the rest of a cut answer as the beginning of the next connection’s', async () => {
    const half = Buffer.concat([int32(100), int32(0), Buffer.alloc(10)]);
    await using broker = await brokerThat((socket, turn) =>
      socket.on('data', () => turn === 0 && socket.end(half)),
    );
    const connection = await broker.pool.getConnection();
    await expect(send(connection, 0)).rejects.toThrow('Closed connection');
    await expect.poll(() => connection.isConnected()).toBe(false);
    // It connects again, the same and without a word: nobody hears that the connection was lost.
    expect(await broker.pool.getConnection()).toBe(connection);
    expect(broker.sockets).toHaveLength(2);
    expect(connection.bytesBuffered).toBe(half.length);
  });

  it('throws an uncaught exception when it cannot read an answer', async () => {
    await using broker = await brokerThat(() => undefined);
    const connection = await broker.pool.getConnection();
    expect(() => connection.processData(Buffer.concat([int32(2), Buffer.alloc(2)]))).toThrow(RangeError);
  });

  it('polls every millisecond for waiting requests although there are none', () => {
    vi.useFakeTimers();
    const queue = new RequestQueue({
      logger: logger.namespace('test'),
      requestTimeout: 1,
      enforceRequestTimeout: true,
    });
    const looks = vi.spyOn(queue, 'checkPendingRequests');
    queue.scheduleCheckPendingRequests();
    vi.advanceTimersByTime(100);
    queue.destroy();
    vi.useRealTimers();
    expect(looks.mock.calls.length).toBeGreaterThan(50);
  });

  it('opens two connections for two concurrent callers, and leaks one', async () => {
    await using broker = await brokerThat(() => undefined);
    await Promise.all([broker.pool.getConnection(1), broker.pool.getConnection(1)]);
    await expect.poll(() => broker.sockets.length).toBe(2);
  });

  it('sends requests in the order in which their bytes are ready, not in the order of the calls', async () => {
    const versions: number[] = [];
    await using broker = await brokerThat((socket) =>
      socket.on('data', (data: Buffer) => {
        for (let at = 0; at < data.length; at += data.readInt32BE(at) + 4) {
          versions.push(data.readInt16BE(at + 6));
          socket.write(answerTo(data.readInt32BE(at + 8)));
        }
      }),
    );
    const connection = await broker.pool.getConnection();
    let compressed = (): void => undefined;
    const first = send(connection, 1, new Promise((resolve) => (compressed = resolve)));
    await send(connection, 2);
    compressed();
    await first;
    expect(versions).toEqual([2, 1]);
  });

  it('disconnects only when all requests in flight are answered', async () => {
    await using broker = await brokerThat(() => undefined);
    const connection = await broker.pool.getConnection();
    const ended: string[] = [];
    const sending = send(connection, 0).then(() => ended.push('answered'));
    await turns();
    const closing = connection.disconnect().then(() => ended.push('disconnected'));
    await turns();
    expect(ended).toEqual([]);
    broker.sockets[0]?.write(answerTo(0));
    await Promise.all([sending, closing]);
    expect(new Set(ended)).toEqual(new Set(['answered', 'disconnected']));
  });

  it.each([
    ['tries the first broker only, when it is to try nothing twice', ['first:1', 'second:1'], 'first'],
    ['splits an address at the first colon', ['[::1]:9092'], '['],
  ])('%s', async (_what, brokers, host) => {
    const asked: string[] = [];
    const cluster = new Cluster({
      logger,
      socketFactory: (to: { readonly host: string }) => {
        asked.push(to.host);
        throw new Error('nobody there');
      },
      brokers,
      clientId: 'test',
      connectionTimeout: 1000,
      requestTimeout: 1000,
      enforceRequestTimeout: true,
      metadataMaxAge: 1000,
      retry: { retries: 0 },
      allowAutoTopicCreation: false,
      maxInFlightRequests: null,
      isolationLevel: 0,
    });
    await expect(cluster.connect()).rejects.toThrow('nobody there');
    expect(asked).toEqual([host]);
  });

  it('reads a record batch with a changed byte without an error', async () => {
    const batch = batchOf(0, [{ key: 'h', value: 'true' }]);
    batch.write('f', batch.indexOf('true'));
    const { records } = await decodeBatch(new Decoder(batch));
    expect(records.map(({ value }) => String(value))).toEqual(['frue']);
  });

  it('decompresses without a limit', async () => {
    const codec = kafkajs.CompressionCodecs[kafkajs.CompressionTypes.GZIP]() as {
      decompress(bytes: Buffer): Promise<Buffer>;
    };
    const bomb = gzipSync(Buffer.alloc(2 * MAX_BATCH_BYTES));
    expect(await codec.decompress(bomb)).toHaveLength(2 * MAX_BATCH_BYTES);
  });

  it('cannot read zstd', () => {
    expect(() => kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD]()).toThrow('not implemented');
  });

  it('cannot read chosen partitions: a consumer always belongs to a group', () => {
    const consumer = new kafkajs.Kafka({ brokers: ['nowhere:1'] }).consumer({ groupId: 'test' });
    expect(consumer).not.toHaveProperty('assign');
  });
});
