import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { DEFAULT_PORT, serveGateway, type Gateway } from '../src/index.ts';
import { twoHistories } from './fixture-home.ts';

let gateway: Gateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

test('closing sends a last message on streams, finishes requests and frees the port', async () => {
  gateway = await serveGateway({ home: twoHistories(), port: 0 });
  const response = await fetch(`${gateway.url}/api/events`);
  const rest = response.text();
  await gateway.close();
  expect(await rest).toContain('event: end\ndata: {"error":{"code":"E_BUSY"');
  await expect(fetch(`${gateway.url}/health/live`)).rejects.toThrow();
});

test.each(['0.0.0.0', '::', '192.168.1.10', 'example.org'])(
  'it refuses to listen on %s, since the gateway has no authentication',
  async (host) => {
    await expect(serveGateway({ home: twoHistories(), port: 0, host })).rejects.toMatchObject({
      code: 'E_NOT_ALLOWED',
    });
  },
);

test('the gateway answers requests to its port under any loopback name, and under no other name or port', async () => {
  gateway = await serveGateway({ home: twoHistories(), port: 0 });
  const { port } = gateway;
  const status = (host: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', reject);
      socket.once('data', (data) => {
        resolve(Number(data.toString('latin1').split(' ')[1]));
        socket.destroy();
      });
      socket.write(`GET /health/live HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    });
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
    expect(await status(host)).toBe(200);
  for (const host of [
    `127.0.0.1:${port + 1}`,
    'localhost',
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
  ])
    expect(await status(host)).toBe(403);
});

test('without a given port the gateway uses a free one; a given port that is in use is a coded error', async () => {
  const first = await serveGateway({ home: twoHistories() });
  const second = await serveGateway({ home: twoHistories() });
  expect(second.port).toBeGreaterThan(first.port);
  expect(first.port).toBeGreaterThanOrEqual(DEFAULT_PORT);
  await Promise.all([first.close(), second.close()]);

  gateway = await serveGateway({ home: twoHistories(), port: 0 });
  await expect(serveGateway({ home: twoHistories(), port: gateway.port })).rejects.toMatchObject({
    code: 'E_ADDRESS_IN_USE',
  });
});
