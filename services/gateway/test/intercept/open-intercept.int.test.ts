import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { request, type Server } from 'node:http';
import { connect as connectSecond, type IncomingHttpHeaders } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../src/front/limits.ts';
import { openFront } from '../../src/front/open-front.ts';
import { makeAuthority, type AuthorityKeys } from '../../src/intercept/authority.ts';
import { openIntercept, type Intercept } from '../../src/intercept/open-intercept.ts';
import { decodeEntry, type EntryRef, type StartedEntry } from '../../src/proxy/entry.ts';
import type { Proxy } from '../../src/proxy/open-proxy.ts';
import { openNotingProxy } from '../proxy/noting-proxy.ts';
import { chatAnswer, startUpstream, type Upstream } from '../proxy/scripted-upstream.ts';

let directory: string;
let upstream: Upstream;
let proxy: Proxy;
let intercept: Intercept;
let authority: AuthorityKeys;
let server: Server;
let port: number;
let tunnelled: string[];
const refuse = (): never => {
  throw new Error('this is a proxy');
};
let noted: readonly EntryRef[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-intercept-'));
  upstream = await startUpstream((_, outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
    outgoing.end(chatAnswer('Hello.'));
  });
  ({ proxy, noted } = await openNotingProxy(directory));
  authority = await makeAuthority();
  tunnelled = [];
  intercept = openIntercept({
    hosts: [],
    addresses: [`${upstream.url}/v1`],
    upstreams: { openai: new URL(`${upstream.url}/v1`) },
    elsewhere: {},
    recordedIn: { place: { run: 'r1' }, run: null },
    authority,
    proxy,
    tunnelled: (host) => tunnelled.push(host),
  });
  const { takes, connect, request: handle, upgrade } = intercept;
  const noDoor = { find: () => refuse(), answer: () => Promise.resolve().then(refuse) };
  server = openFront(noDoor, LIMITS, undefined, { takes, connect, handle, upgrade }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  intercept.close();
  server.close();
  server.closeAllConnections();
  await proxy.close();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

/** What the proxy noted of calls that began. */
const calls = async (): Promise<readonly StartedEntry[]> => {
  await proxy.drained(5_000);
  return noted.flatMap((ref) => {
    const read = 'bytes' in ref ? decodeEntry(Buffer.from(ref.bytes), 0) : undefined;
    return read?.entry.kind === 'started' ? [read.entry] : [];
  });
};

/** A connection through the proxy to a host, as a client makes it. */
const tunnelTo = async (host: string): Promise<{ status: number; socket: Socket }> => {
  const asked = request({ host: '127.0.0.1', port, method: 'CONNECT', path: host });
  asked.end();
  const [answer, socket] = (await once(asked, 'connect')) as [{ statusCode: number }, Socket];
  return { status: answer.statusCode, socket };
};

const secure = async (host: string, protocols: string[] = []): Promise<TLSSocket> => {
  const { socket } = await tunnelTo(`${host}:443`);
  const tls = connectTls({ socket, servername: host, ca: authority.certificate, ALPNProtocols: protocols });
  await once(tls, 'secureConnect');
  return tls;
};

const readAll = async (socket: NodeJS.ReadableStream): Promise<string> => {
  let text = '';
  for await (const piece of socket) text += String(piece);
  return text;
};

const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });

test('the upstream gets the headers of the client in their order, and its host where it stood', async () => {
  const tls = await secure('api.openai.com');
  tls.write(
    [
      'POST /v1/chat/completions?x=%41 HTTP/1.1',
      'X-First: 1',
      'hOst: api.openai.com',
      'x-twice: a',
      'Content-Length: ' + String(BODY.length),
      'X-Twice: b',
      'Expect: 100-continue',
      'Connection: close',
      '',
      BODY,
    ].join('\r\n'),
  );
  const answer = await readAll(tls);
  expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/);
  expect(answer).toContain('set-cookie: a=1\r\nset-cookie: b=2\r\n');
  const [got] = upstream.received;
  expect(got?.url).toBe('/v1/chat/completions?x=%41');
  expect(got?.body.toString()).toBe(BODY);
  expect(got?.rawHeaders.slice(0, 12)).toEqual(
    [
      ['X-First', '1'],
      ['hOst', new URL(upstream.url).host],
      ['x-twice', 'a'],
      ['Content-Length', String(BODY.length)],
      ['X-Twice', 'b'],
      ['Expect', '100-continue'],
    ].flat(),
  );
  expect(await calls()).toMatchObject([
    { place: { run: 'r1' }, method: 'POST', path: '/v1/chat/completions', origin: upstream.url },
  ]);
});

test('a client of HTTP/2 is answered in it', async () => {
  const socket = await secure('api.openai.com', ['h2']);
  const session = connectSecond('https://api.openai.com', { createConnection: () => socket });
  const stream = session.request({ ':method': 'POST', ':path': '/v1/chat/completions', 'x-a': '1' });
  stream.end(BODY);
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  expect(headers[':status']).toBe(200);
  expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(JSON.parse(await readAll(stream))).toMatchObject({ object: 'chat.completion' });
  session.close();
  const [got] = upstream.received;
  expect(got?.rawHeaders.slice(0, 4)).toEqual(['host', new URL(upstream.url).host, 'x-a', '1']);
  expect(got?.body.toString()).toBe(BODY);
  expect(await calls()).toHaveLength(1);
});

test('plain requests are read with a whole address, and inside of CONNECT', async () => {
  const url = `${upstream.url}/v1/chat/completions`;
  const asked = request({
    ...{ host: '127.0.0.1', port, method: 'POST', path: url },
    headers: { host: new URL(url).host },
  });
  asked.end(BODY);
  const [answer] = (await once(asked, 'response')) as [NodeJS.ReadableStream];
  await readAll(answer);
  const { socket } = await tunnelTo(new URL(url).host);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
  );
  await readAll(socket);
  expect(upstream.received.map((each) => each.url)).toEqual(['/v1/chat/completions', '/v1/chat/completions']);
  expect(await calls()).toHaveLength(2);
  expect(tunnelled).toEqual([]);
});

test('other hosts are passed unread, and counted', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const echoPort = (echo.address() as AddressInfo).port;
  const { socket } = await tunnelTo(`127.0.0.1:${echoPort}`);
  const bytes = Buffer.from([0x16, 3, 1, 0, 255]);
  socket.end(bytes);
  expect(Buffer.from(await readAll(socket), 'latin1').length).toBeGreaterThan(0);
  expect(tunnelled).toEqual(['127.0.0.1']);
  expect(await calls()).toEqual([]);
  echo.close();
});

test('a host that cannot be reached is a 502, and what is no proxy request a 400', async () => {
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const closedPort = (closed.address() as AddressInfo).port;
  closed.close();
  const { status } = await tunnelTo(`127.0.0.1:${closedPort}`);
  expect(status).toBe(502);
  expect((await tunnelTo('no-port/at-all')).status).toBe(400);
});

test('a client that does not trust the run is not served, and nothing else breaks', async () => {
  const { socket } = await tunnelTo('api.openai.com:443');
  const tls = connectTls({ socket, servername: 'api.openai.com' });
  const [error] = (await once(tls, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toMatch(/SELF_SIGNED|UNABLE_TO/);
  const again = await secure('api.openai.com');
  again.write('GET /v1/models HTTP/1.1\r\nHost: api.openai.com\r\nConnection: close\r\n\r\n');
  expect(await readAll(again)).toMatch(/^HTTP\/1.1 200/);
});
