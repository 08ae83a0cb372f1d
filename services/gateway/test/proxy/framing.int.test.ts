import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  createServer,
  request,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { upstreamsOf } from '../../src/index.ts';
import { openProxy, type Proxy } from '../../src/proxy/open-proxy.ts';
import { startUpstream, type Upstream } from './scripted-upstream.ts';

let directory: string;
let upstream: Upstream;
let proxy: Proxy;
let server: Server;
const received: { readonly method: string; readonly path: string; readonly body: string }[] = [];
beforeEach(async () => {
  received.length = 0;
  directory = mkdtempSync(join(tmpdir(), 'stemma-framing-'));
  upstream = await startUpstream(({ method, url, body }, outgoing) => {
    received.push({ method, path: url, body: body.toString() });
    outgoing.end('{}');
  });
  proxy = await openProxy({
    directory,
    upstreams: upstreamsOf({ STEMMA_UPSTREAM_OPENAI: `${upstream.url}/v1` }),
    sink: {
      record: () => undefined,
      mayBeSteered: () => false,
      steer: () => Promise.resolve({ kind: 'untouched' }),
    },
    redacts: false,
    warn: () => undefined,
    count: () => undefined,
  });
  server = createServer((incoming, outgoing) => proxy.handle(incoming, outgoing)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await proxy.close();
  server.closeAllConnections();
  server.close();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

const send = async (
  method: string,
  headers: OutgoingHttpHeaders,
  pieces: readonly string[],
): Promise<number | undefined> => {
  const { port } = server.address() as AddressInfo;
  const sent = request({
    ...{ host: '127.0.0.1', port, method, path: '/proxy/openai/files/f', headers },
  });
  for (const piece of pieces) sent.write(piece);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode;
};

/** A body that is a request, if it is taken for one. */
const HIDDEN = 'GET /v1/hidden HTTP/1.1\r\nhost: upstream\r\n\r\n';
const LENGTH = String(HIDDEN.length);

test.each(
  ['DELETE', 'GET', 'OPTIONS', 'PUT', 'PATCH', 'POST'].flatMap(
    (method) =>
      [
        [method, 'in chunks', { 'transfer-encoding': 'chunked' }],
        [method, 'of a known length', { 'content-length': LENGTH }],
        [
          method,
          'in chunks of the connection',
          { 'transfer-encoding': 'chunked', connection: 'transfer-encoding' },
        ],
        [method, 'of a length of the connection', { 'content-length': LENGTH, connection: 'content-length' }],
      ] as const,
  ),
)(
  'the body of a %s, %s, stays its body: none of it is another request',
  { tags: ['calls§4.1'] },
  async (method, _, headers) => {
    expect(await send(method, headers, [HIDDEN])).toBe(200);
    expect(await send(method, { 'transfer-encoding': 'chunked' }, ['next'])).toBe(200);
    expect(received).toEqual([
      { method, path: '/v1/files/f', body: HIDDEN },
      { method, path: '/v1/files/f', body: 'next' },
    ]);
  },
);
