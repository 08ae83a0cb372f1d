import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { serveGateway, type Gateway, type ServeOptions } from '../src/index.ts';
import { twoHistories } from './fixture-home.ts';

let gateway: Gateway | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway?.close();
  gateway = undefined;
});

const serve = async (options: Partial<ServeOptions> = {}): Promise<Gateway> =>
  (gateway = await serveGateway({ home: twoHistories(), port: 0, ...options }));

/** A connection, and all that it received. */
const open = ({ port }: Gateway) => {
  const socket = connect(port, '127.0.0.1');
  const seen = { socket, text: '', closed: false };
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => (seen.closed = true));
  socket.on('data', (data: Buffer) => (seen.text += data.toString('latin1')));
  return seen;
};
const head = (to: Gateway, line: string, ...headers: readonly string[]): string =>
  [`${line} HTTP/1.1`, `host: 127.0.0.1:${to.port}`, ...headers, '', ''].join('\r\n');
const post = (to: Gateway, body: string, more: Record<string, string> = {}): Promise<Response> =>
  fetch(`${to.url}/api/histories/first/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...more },
    body,
  });

test('a HEAD request to a stream is refused and uses no slot: after 64 of them a stream can still be opened', async () => {
  const { url } = await serve();
  for (let i = 0; i < 64; i++) {
    const response = await fetch(`${url}/api/events`, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
  }
  const stream = await fetch(`${url}/api/events`);
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
});

test.each([
  ['DELETE', '/api/histories', 'GET, HEAD'],
  ['GET', '/api/histories/first/commands', 'POST'],
  ['PUT', '/', 'GET, HEAD'],
  ['POST', '/health/live', 'GET, HEAD'],
])(
  '%s %s is answered with 405 and the allowed methods before its body is read',
  async (method, path, allow) => {
    const to = await serve();
    const client = open(to);
    client.socket.write(head(to, `${method} ${path}`, 'content-length: 1000000'));
    await expect.poll(() => client.text).toContain('E_METHOD_NOT_ALLOWED');
    expect(client.text).toMatch(/^HTTP\/1.1 405/);
    expect(client.text.toLowerCase()).toContain(`allow: ${allow.toLowerCase()}`);
  },
);

test('a body for an address that there is not is refused with 404 before it is read', async () => {
  const to = await serve();
  const client = open(to);
  client.socket.write(head(to, 'POST /api/histories/first/nothing', 'content-length: 1000000'));
  await expect.poll(() => client.text).toContain('E_NOT_FOUND');
  expect(client.text).toMatch(/^HTTP\/1.1 404/);
});

test('a body above 80 MiB is refused before it is read', async () => {
  const to = await serve();
  const client = open(to);
  const length = `content-length: ${80 * 1024 * 1024 + 1}`;
  client.socket.write(
    head(to, 'POST /api/histories/first/commands', 'content-type: application/json', length),
  );
  await expect.poll(() => client.text).toContain('E_INPUT_TOO_LARGE');
  expect(client.text).toMatch(/^HTTP\/1.1 413/);
});

test('a body with too many values is refused while it arrives', async () => {
  const to = await serve({ limits: { values: 1_000 } });
  const client = open(to);
  client.socket.write(
    head(
      to,
      'POST /api/histories/first/commands',
      'content-type: application/json',
      'content-length: 1000000',
    ),
  );
  client.socket.write(`{"steps":[${'{},'.repeat(1_000)}`);
  await expect.poll(() => client.text).toContain('E_INPUT_TOO_LARGE');
  expect((await post(to, `{"id":"${','.repeat(2_000)}"}`)).status).toBe(400);
});

test('bodies being received share a memory limit: a body beyond it is refused with Retry-After, and small bodies have a limit of their own', async () => {
  const to = await serve({ limits: { bodies: 300_000, small: 1_000 } });
  const client = open(to);
  client.socket.write(
    head(
      to,
      'POST /api/histories/first/commands',
      'content-type: application/json',
      'content-length: 400000',
    ),
  );
  client.socket.write(' '.repeat(250_000));
  const refused = async (): Promise<readonly unknown[]> => {
    const response = await post(to, ' '.repeat(200_000));
    return [response.status, response.headers.get('retry-after'), await response.json()];
  };
  await expect.poll(refused).toMatchObject([503, '1', { error: { code: 'E_BUSY' } }]);
  expect((await post(to, '{}')).status).toBe(400);
  client.socket.destroy();
  await expect.poll(async () => (await refused())[0]).toBe(400);
});

test('a request whose body arrives too slowly is answered with 408 and closed', async () => {
  const to = await serve({ limits: { bodyGrace: 200, bodyRate: 10_000 } });
  const client = open(to);
  client.socket.write(
    head(
      to,
      'POST /api/histories/first/commands',
      'content-type: application/json',
      'content-length: 100000',
    ),
  );
  const drip = setInterval(() => client.socket.write(' '), 20);
  await expect.poll(() => client.closed, { timeout: 10_000 }).toBe(true);
  clearInterval(drip);
  expect(client.text).toMatch(/^HTTP\/1.1 408/);
  expect(client.text).toContain('E_REQUEST_SLOW');
});

test('a request whose headers do not end is answered with 408', async () => {
  const to = await serve({ limits: { headers: 200 } });
  const client = open(to);
  client.socket.write('GET /health/live HTTP/1.1\r\nhost: 127');
  await expect.poll(() => client.closed, { timeout: 10_000 }).toBe(true);
  expect(client.text).toMatch(/^HTTP\/1.1 408/);
});

test('further requests on a connection that waits for too many answers are refused', async () => {
  const to = await serve({ limits: { perConnection: 4 } });
  const client = open(to);
  client.socket.write(head(to, 'GET /api/histories').repeat(50));
  await expect.poll(() => client.text).toContain('E_TOO_MANY_REQUESTS');
  expect(client.text).toMatch(/^HTTP\/1.1 200/);
});

test('beyond the limit of connections, the connection that has been idle longest is closed', async () => {
  const to = await serve({ limits: { connections: 10 } });
  const idle: ReturnType<typeof open>[] = [];
  for (let i = 0; i < 10; i++) {
    const client = open(to);
    await once(client.socket, 'connect');
    idle.push(client);
  }
  expect((await fetch(`${to.url}/health/live`)).status).toBe(200);
  await expect.poll(() => idle.map(({ closed }) => closed)).toEqual([true, ...Array<boolean>(9).fill(false)]);
});

test('beyond the limit of streams, a new stream closes the oldest one that has lasted its minimum time', async () => {
  const { url } = await serve({ streams: 2, stream: { turn: 0 } });
  const first = await fetch(`${url}/api/events`);
  const second = await fetch(`${url}/api/events`);
  const third = await fetch(`${url}/api/events`);
  expect([second.status, third.status]).toEqual([200, 200]);
  expect(await first.text()).toContain('this stream ended to let another client in');
  await Promise.all([second.body?.cancel(), third.body?.cancel()]);
});

test('a client that does not read its answers is disconnected', async () => {
  const to = await serve({ limits: { stall: 300, perConnection: 1_000 } });
  const client = open(to);
  client.socket.pause();
  client.socket.write(head(to, 'GET /openapi.json').repeat(200));
  // Who does not read learns only by writing that the other side is gone.
  const gone = (): boolean => {
    if (!client.closed) client.socket.write('\r\n');
    return client.closed;
  };
  await expect.poll(gone, { timeout: 20_000 }).toBe(true);
});
