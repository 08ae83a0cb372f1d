import { StreamMessage } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createGateway, serveGateway, type Gateway } from '../src/index.ts';
import { twoHistories } from './fixture-home.ts';

type Message = { readonly id?: string; readonly event?: string; readonly data?: string };

/** Reads messages of a stream until `enough` says so. */
const read = async (
  response: Response,
  enough: (messages: readonly Message[]) => boolean,
): Promise<readonly Message[]> => {
  const messages: Message[] = [];
  let text = '';
  const reader = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  while (!enough(messages)) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts)
      messages.push(
        Object.fromEntries(
          part.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
        ),
      );
  }
  await reader.cancel();
  return messages;
};

const seqs = (messages: readonly Message[]): string[] =>
  messages
    .filter(({ event }) => event === 'events')
    .flatMap(({ data }) =>
      StreamMessage.parse(JSON.parse(data ?? '')).events.map(({ history, seq }) => `${history}:${seq}`),
    );

const count = (n: number) => (messages: readonly Message[]) =>
  messages.filter(({ id }) => id !== undefined).length >= n;
const block = (id: string) => ({ id, content: 'x' });
let gateway: Gateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

test('a stream that is resumed after the last id misses nothing and repeats nothing', async () => {
  const home = twoHistories();
  const app = createGateway({ home });
  const first = await app.request('/api/events');
  expect(first.headers.get('content-type')).toBe('text/event-stream');
  home.append('ha', [block('1')], false);
  home.append('hb', [block('2')], true);
  const seen = await read(first, count(2));
  expect(seqs(seen)).toEqual(['ha:1', 'hb:1', 'hb:1', 'hb:1']);
  home.append('ha', [block('3')], false);
  home.append('ha', [block('4')], false);
  const resumed = await app.request('/api/events', { headers: { 'last-event-id': seen.at(-1)?.id ?? '' } });
  expect(seqs(await read(resumed, count(2)))).toEqual(['ha:2', 'ha:3']);
  const byAddress = await app.request(`/api/events?after=${seen.at(-1)?.id ?? ''}`);
  expect(seqs(await read(byAddress, count(2)))).toEqual(['ha:2', 'ha:3']);
});

test('the stream of one history sends no event of another, but events of others advance its cursor', async () => {
  const home = twoHistories();
  const response = await createGateway({ home }).request('/api/events?history=hb');
  home.append('ha', [block('1')], false);
  home.append('hb', [block('2')], false);
  const messages = await read(response, count(2));
  expect(seqs(messages)).toEqual(['hb:1']);
  expect(messages.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual(['f2', 'f3']);
});

test('a cursor that the log does not have is answered with 409 E_STREAM_GONE before anything is sent', async () => {
  const home = twoHistories();
  for (const error of [
    fail('E_STREAM_GONE', 'gone'),
    fail('E_CURSOR_LOST', 'lost'),
    fail('E_LOG_MISMATCH', 'another log'),
  ]) {
    const refusing: Home = {
      ...home,
      follow: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }),
    };
    const response = await createGateway({ home: refusing }).request('/api/events', {
      headers: { 'last-event-id': 'f99' },
    });
    expect([response.status, await response.json()]).toMatchObject([
      409,
      { error: { code: 'E_STREAM_GONE' } },
    ]);
  }
  expect((await createGateway({ home }).request('/api/events?after=f99')).status).toBe(409);
  expect((await createGateway({ home }).request('/api/events?history=hc')).status).toBe(404);
});

test('a stream without events sends heartbeats, so that a dead connection is noticed', async () => {
  const response = await createGateway({ home: twoHistories(), stream: { heartbeat: 5 } }).request(
    '/api/events',
  );
  const messages = await read(response, (all) => all.length >= 4);
  expect(messages.slice(1, 4)).toEqual([{ '': 'nothing new' }, { '': 'nothing new' }, { '': 'nothing new' }]);
});

test('a stream that ends because of the log says why', async () => {
  const home: Home = {
    ...twoHistories(),
    follow: () => ({
      async *[Symbol.asyncIterator]() {
        yield { cursor: 'f0', events: [] };
        throw fail('E_CURSOR_LOST', 'the log lost its end');
      },
    }),
  };
  const messages = await read(await createGateway({ home }).request('/api/events'), () => false);
  expect(messages.at(-1)?.event).toBe('end');
  expect(JSON.parse(messages.at(-1)?.data ?? '')).toMatchObject({ error: { code: 'E_STREAM_GONE' } });
});

test('a client that reads nothing costs a bounded number of messages, and is disconnected', async () => {
  const home = twoHistories();
  home.append('ha', [{ id: 'large', content: 'x'.repeat(10_000) }], false);
  const [event] = await home.read.events('ha', { from: 1 });
  let taken = 0;
  let ended = false;
  const flood: Home = {
    ...home,
    follow: ({ signal }) => ({
      async *[Symbol.asyncIterator]() {
        signal.addEventListener('abort', () => (ended = true));
        for (;;) yield { cursor: `f${taken++}`, events: event === undefined ? [] : [event] };
      },
    }),
  };
  gateway = await serveGateway({ home: flood, port: 0, stream: { stall: 300 } });
  const socket = connect(gateway.port, '127.0.0.1').pause();
  socket.write(`GET /api/events HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\n\r\n`);
  await expect.poll(() => ended, { timeout: 120_000 }).toBe(true);
  // What the kernel and the two ends of the connection buffer: some megabytes, far from what was on offer.
  expect(taken * 10_000).toBeLessThan(64 * 1024 * 1024);
  socket.destroy();
});

test('live streams beyond the limit are refused, and a closed one makes room for another', async () => {
  const app = createGateway({ home: twoHistories(), streams: 1 });
  const first = await app.request('/api/events');
  const second = await app.request('/api/events');
  expect([second.status, await second.json()]).toMatchObject([503, { error: { code: 'E_BUSY' } }]);
  await first.body?.cancel();
  expect((await app.request('/api/events')).status).toBe(200);
});

test('for an event that is too large the stream sends a notice, and the client can read the event by itself', async () => {
  const home = twoHistories();
  const response = await createGateway({ home }).request('/api/events');
  home.append('ha', [{ id: 'large', content: 'x'.repeat(20_000) }], false);
  const [message] = (await read(response, count(1))).filter(({ event }) => event === 'events');
  expect(StreamMessage.parse(JSON.parse(message?.data ?? '')).events[0]).toMatchObject({
    type: 'NodeInserted',
    seq: 1,
    event: null,
  });
});
