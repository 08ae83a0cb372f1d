import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect, createServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFront } from '../../src/front/open-front.ts';
import { routeOf } from '../../src/router.ts';
import { LIMITS } from '../../src/front/limits.ts';
import { upstreamsOf } from '../../src/index.ts';
import type { EndedEntry } from '../../src/proxy/entry.ts';
import { decodeEntry } from '../../src/proxy/entry.ts';
import { openProxy, type Proxy } from '../../src/proxy/open-proxy.ts';

let directory: string;
let upstream: TcpServer;
let proxy: Proxy;
let server: Server;
/** What the upstream got, and the bytes that it answers to a whole request. */
let got = '';
let answer: Buffer;
/** True: it answers to the first bytes of a request, and takes no more. */
let isEager = false;
const sockets = new Set<Socket>();
const ends: EndedEntry[] = [];
beforeEach(async () => {
  got = '';
  isEager = false;
  ends.length = 0;
  directory = mkdtempSync(join(tmpdir(), 'stemma-odd-'));
  upstream = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (piece) => {
      got += piece.toString('latin1');
      text += piece.toString('latin1');
      if (!isEager && !isWhole(text)) return;
      text = '';
      socket.write(answer);
      if (isEager) socket.pause();
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  proxy = await openProxy({
    directory,
    upstreams: upstreamsOf({
      STEMMA_UPSTREAM_OPENAI: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
    }),
    sink: {
      record: (_, settle, how) => {
        if (how?.end !== undefined && 'bytes' in how.end) {
          const { entry } = decodeEntry(Buffer.from(how.end.bytes), 0) ?? {};
          if (entry?.kind === 'ended') ends.push(entry);
        }
        settle({ branch: { history: 'h', branchId: 0 } });
      },
      mayBeSteered: () => false,
      steer: () => Promise.resolve({ kind: 'untouched' }),
    },
    redacts: false,
    endWithin: 10_000,
    recordAfter: 0,
    warn: () => undefined,
    count: () => undefined,
  });
  const nothing = { status: 404, headers: {}, body: null };
  server = openFront(
    { find: ({ method, target }) => routeOf(method, target), answer: async () => nothing },
    LIMITS,
    undefined,
    proxy,
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

const isWhole = (text: string): boolean => {
  const head = text.indexOf('\r\n\r\n');
  if (head === -1) return false;
  if (/transfer-encoding: chunked/i.test(text)) return /\r\n0\r\n(?:.*\r\n)?\r\n$/.test(text);
  return text.length - head - 4 >= Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
};

/** Sends bytes and returns what comes back, as far as it has to for `until`. */
const send = async (request: string, until: RegExp): Promise<string> => {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  client.on('data', (piece) => (text += piece.toString('latin1')));
  client.on('error', () => undefined);
  client.write(Buffer.from(request, 'latin1'));
  await expect.poll(() => until.test(text) || client.closed).toBe(true);
  client.destroy();
  return text;
};

const BODY = '{"model":"m","messages":[]}';
const CALL = `POST /proxy/openai/chat/completions HTTP/1.1\r\nhost: h\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';

test.each([
  ['a status below those of answers', 'HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\n{}'],
  ['a reason that has a control character', 'HTTP/1.1 200 a\x01b\r\nContent-Length: 2\r\n\r\n{}'],
  [
    'another protocol, which nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nabc',
  ],
  ['another protocol that it does not name', 'HTTP/1.1 101 Switching Protocols\r\n\r\nabc'],
])(
  'an upstream that answers %s has failed, and the gateway goes on',
  { tags: ['calls§4.3'] },
  async (_, bytes) => {
    answer = Buffer.from(bytes, 'latin1');
    expect(await send(CALL, /upstream_error.*\r\n0\r\n/s)).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
    await expect
      .poll(() => ends.map(({ status, httpStatus }) => ({ status, httpStatus })))
      .toEqual([{ status: 'failed', httpStatus: null }]);
    answer = Buffer.from(OK);
    expect(await send(CALL, /\{\}$/)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  },
);

test('headers that are no ASCII have the bytes that they came with', { tags: ['calls§4.1'] }, async () => {
  answer = Buffer.from('HTTP/1.1 200 caf\xe9\r\nX-Name: caf\xe9\r\nContent-Length: 2\r\n\r\n{}', 'latin1');
  const text = await send(CALL.replace('host: h', 'host: h\r\nx-name: caf\xe9'), /\{\}$/);
  expect(text).toContain('200 caf\xe9\r\nX-Name: caf\xe9\r\n');
  expect(got).toContain('\r\nx-name: caf\xe9\r\n');
});

test(
  'what an upstream says before its answer, and behind it, reaches the client',
  { tags: ['calls§4.1'] },
  async () => {
    answer = Buffer.from(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 5\r\n\r\n',
    );
    const text = await send(CALL, /X-Sum: 5\r\n\r\n$/);
    expect(text).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    const chunked = `POST /proxy/openai/x HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Up: 6\r\n\r\n`;
    await send(chunked, /X-Sum: 5\r\n\r\n$/);
    expect(got).toMatch(/\r\n2\r\n\{\}\r\n0\r\nX-Up: 6\r\n\r\n$/);
    const old = await send(CALL.replace('HTTP/1.1', 'HTTP/1.0'), /\{\}$/);
    expect(old).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  },
);

test('a request without a body has none at the upstream', { tags: ['calls§4.1'] }, async () => {
  answer = Buffer.from(OK);
  await send('POST /proxy/openai/responses/r/cancel HTTP/1.1\r\nhost: h\r\n\r\n', /\{\}$/);
  expect(got).not.toMatch(/transfer-encoding/i);
  expect(got).toMatch(/content-length: 0\r\n/i);
});

test(
  'an answer that comes before its request is whole ends it: the rest is read, and the connection goes on',
  { tags: ['calls§4.3'] },
  async () => {
    isEager = true;
    answer = Buffer.from('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}');
    const size = 8 * 1024 * 1024;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    client.on('data', (piece) => (text += piece.toString('latin1')));
    client.write(CALL.replace(`content-length: ${BODY.length}`, `content-length: ${size}`));
    await expect.poll(() => text).toMatch(/413 Too Large\r\n.*\{\}$/s);
    client.write('x'.repeat(size - BODY.length));
    client.write(CALL);
    await expect.poll(() => text).toMatch(/413 Too Large\r\n.*413 Too Large\r\n.*\{\}$/s);
    client.destroy();
    await expect.poll(() => ends.map(({ status }) => status)).toEqual(['failed', 'failed']);
  },
);

const WEBSOCKET =
  'GET /proxy/openai/realtime?model=m HTTP/1.1\r\nhost: h\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: a2V5\r\n\r\n';

test(
  'a websocket is passed on both ways, and what refuses it is heard',
  { tags: ['calls§4.3'] },
  async () => {
    answer = Buffer.from(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\nfirst',
      'latin1',
    );
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    client.on('data', (piece) => (text += piece.toString('latin1')));
    client.write(WEBSOCKET + 'early');
    await expect.poll(() => text).toMatch(/^HTTP\/1\.1 101 .*Sec-WebSocket-Accept: x\r\n\r\nfirst$/s);
    expect(got).toMatch(/^GET \/v1\/realtime\?model=m HTTP\/1\.1\r\n.*upgrade: websocket\r\n/is);
    client.write('more');
    await expect.poll(() => got).toMatch(/earlymore$/);
    const [up] = sockets;
    up?.destroy();
    await once(client, 'close');

    answer = Buffer.from('HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\r\nnope');
    expect(await send(WEBSOCKET, /nope$/)).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    upstream.close();
    for (const socket of sockets) socket.destroy();
    expect(await send(WEBSOCKET, /upstream_error.*\}$/)).toMatch(/^HTTP\/1\.1 502 /);
    expect(await send(WEBSOCKET.replace('/openai/', '/nobody/'), /E_USAGE.*\}$/)).toMatch(/^HTTP\/1\.1 400 /);
  },
);
