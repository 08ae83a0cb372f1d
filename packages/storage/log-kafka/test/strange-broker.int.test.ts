import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { openKafkaLog } from '../src/index.ts';

/** Somebody who listens where a broker should, and answers every request with these bytes, or not at all. */
const strangeBroker = async (answer: Buffer, cut: boolean) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', () => (cut ? socket.end(answer) : socket.write(answer)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** An answer to the first request: its length, the request's number, and bytes. */
const answerOf = (length: number, bytes: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeInt32BE(length, 0);
  return Buffer.concat([head, bytes]);
};

it.each([
  ['nothing', Buffer.alloc(0), [true]],
  ['half of an answer', answerOf(1000, Buffer.alloc(100)), [true]],
  ['a page of the web', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), [true]],
  ['an answer shorter than its number', answerOf(2, Buffer.alloc(0)), [true, false]],
  ['an answer of a length below zero', answerOf(-7, Buffer.alloc(100)), [true, false]],
  ['what is no answer', answerOf(104, Buffer.alloc(100, 0x7f)), [true, false]],
])(
  'a broker that answers %s is reported with a code, and the process goes on',
  async (_what, answer, cuts) => {
    for (const cut of cuts) {
      await using broker = await strangeBroker(answer, cut);
      const opening = openKafkaLog({ brokers: [broker.address], prefix: 'p', deadline: 300 });
      await expect(opening).rejects.toMatchObject({ code: expect.stringMatching(/^E_BROKERS_/) as string });
    }
  },
);
