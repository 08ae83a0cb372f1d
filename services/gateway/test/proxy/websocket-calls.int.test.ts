import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket as Connection } from 'ws';
import { decodeEntry, type EntryRef, type ReadEntry } from '../../src/proxy/entry.ts';
import type { Proxy } from '../../src/proxy/open-proxy.ts';
import { openNotingProxy } from './noting-proxy.ts';

let directory: string;
let provider: Server;
let server: Server;
let proxy: Proxy;
let noted: readonly EntryRef[];
let onMessage: (connection: Connection, text: string) => void;
const listen = async (one: Server): Promise<number> => {
  one.listen(0, '127.0.0.1');
  await once(one, 'listening');
  return (one.address() as AddressInfo).port;
};
const open = async (perMessageDeflate: boolean | object): Promise<string> => {
  provider = createServer();
  const sockets = new WebSocketServer({ server: provider, perMessageDeflate });
  sockets.on('connection', (connection: Connection) => {
    connection.on('message', (data: Buffer) => onMessage(connection, data.toString()));
  });
  const port = await listen(provider);
  const upstream = { STEMMA_UPSTREAM_OPENAI: `http://127.0.0.1:${port}/v1` };
  ({ proxy, noted } = await openNotingProxy(directory, upstream));
  server = createServer(proxy.handle).on('upgrade', proxy.upgrade);
  return `ws://127.0.0.1:${await listen(server)}/proxy/run/r1/openai`;
};
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-websocket-'));
});
afterEach(async () => {
  for (const each of [server, provider]) {
    each.closeAllConnections();
    each.close();
  }
  await proxy.close();
  rmSync(directory, { recursive: true, force: true });
});

const EVENTS = (n: number): readonly string[] =>
  [
    { type: 'response.created', response: { id: `resp_${n}` } },
    { type: 'response.output_text.delta', delta: 'Große Schiffe. '.repeat(400) },
    { type: 'response.completed', response: { id: `resp_${n}`, status: 'completed' } },
  ].map((event) => JSON.stringify(event));

const entries = async (count: number): Promise<readonly ReadEntry[]> => {
  await expect.poll(() => noted.length, { timeout: 5_000 }).toBe(count);
  return noted.map((ref) => decodeEntry(Buffer.from('bytes' in ref ? ref.bytes : []), 0) as ReadEntry);
};

/** The messages of a connection, as they come. */
const connect = async (url: string): Promise<{ socket: WebSocket; messages: string[] }> => {
  const socket = new WebSocket(url);
  const messages: string[] = [];
  socket.addEventListener('message', ({ data }) => messages.push(String(data)));
  await once(socket, 'open');
  return { socket, messages };
};

test.each([
  ['plain', false],
  ['compressed', { threshold: 0 }],
  [
    'compressed, each message for itself',
    { threshold: 0, serverNoContextTakeover: true, clientNoContextTakeover: true },
  ],
])('each response over a websocket is a call: %s', async (_what, deflate) => {
  const url = await open(deflate);
  let asked = 0;
  onMessage = (connection) => {
    for (const event of EVENTS(++asked)) connection.send(event);
  };
  const { socket, messages } = await connect(`${url}/responses`);
  const sent = ['first', 'second'].map((input) =>
    JSON.stringify({ type: 'response.create', model: 'm', input: `${input} ${'ä'.repeat(500)}` }),
  );
  for (const [i, text] of sent.entries()) {
    socket.send(text);
    await expect.poll(() => messages.length, { timeout: 5_000 }).toBe(3 * (i + 1));
  }
  expect(messages).toEqual([...EVENTS(1), ...EVENTS(2)]);
  const read = await entries(4);
  const starts = read.filter(({ entry }) => entry.kind === 'started');
  const ends = read.filter(({ entry }) => entry.kind === 'ended');
  expect(starts.map(({ body }) => body.toString())).toEqual(sent);
  expect(starts[0]?.entry).toMatchObject({ method: 'POST', path: '/v1/responses', place: { run: 'r1' } });
  expect(ends.map(({ body }) => body.toString())).toEqual(
    [1, 2].map((n) =>
      EVENTS(n)
        .map((event) => `data: ${event}\n\n`)
        .join(''),
    ),
  );
  expect(ends[0]?.entry).toMatchObject({
    status: 'answered',
    httpStatus: 200,
    contentType: 'text/event-stream',
  });
  expect(proxy.counts()).toMatchObject({ calls: 2, unrecorded: { kinds: [] } });
  socket.close();
});

test('a connection that ends in the middle is a call that failed, with what came', async () => {
  const url = await open(false);
  onMessage = (connection) => {
    connection.send(EVENTS(1)[0] as string);
    setImmediate(() => connection.terminate());
  };
  const { socket } = await connect(`${url}/responses`);
  socket.addEventListener('error', () => undefined);
  socket.send(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi' }));
  const [, end] = await entries(2);
  expect(end?.entry).toMatchObject({ kind: 'ended', status: 'failed' });
  expect(end?.body.toString()).toBe(`data: ${EVENTS(1)[0]}\n\n`);
});

test('what is no request is passed, and other websockets are counted as unrecorded', async () => {
  const url = await open(false);
  onMessage = (connection, text) => connection.send(text);
  const { socket, messages } = await connect(`${url}/responses`);
  for (const text of ['not JSON', '[]', '{"type":3}', '{"type":"response.cancel"}']) socket.send(text);
  await expect.poll(() => messages.length, { timeout: 5_000 }).toBe(4);
  socket.close();
  const other = await connect(`${url}/realtime`);
  other.socket.send('x');
  await expect.poll(() => other.messages, { timeout: 5_000 }).toEqual(['x']);
  other.socket.close();
  expect(noted).toEqual([]);
  expect(proxy.counts().unrecorded.kinds).toEqual([{ method: 'websocket', path: '/v1/realtime', calls: 1 }]);
});
