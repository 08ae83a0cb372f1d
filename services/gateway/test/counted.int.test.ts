import { fail } from '@stemma/errors';
import { openHome } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGateway, openGatewayMetrics } from '../src/index.ts';
import { twoHistories } from './fixture-home.ts';

test('the metrics count writes, folded frames and requests, the requests by route and never by path', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-counted-'));
  const { metrics, observe, opened } = openGatewayMetrics();
  const home = await openHome({ directory, create: true, observe });
  opened(home);
  const app = createGateway({ home, metrics });
  const post = (path: string, body: object) =>
    app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const start = { id: 's', recorder: 'test', name: 'desk' };
  const started = await post('/api/histories', start);
  expect([started.status, started.ok]).toEqual([201, true]);
  await post('/api/histories', start);
  const inject = (id: string) =>
    post('/api/histories/desk/commands', { id, actor: 'Ada', steps: [{ op: 'inject', text: 'hello' }] });
  expect((await inject('i')).ok).toBe(true);
  expect((await inject('')).ok).toBe(false);
  await app.request('/api/histories/desk');
  await app.request('/api/histories/nobody');
  await app.request('/nowhere');

  const lines = new Set((await (await app.request('/metrics')).text()).split('\n'));
  const expected = [
    'stemma_commands_total{outcome="accepted"} 2',
    'stemma_commands_total{outcome="repeated"} 1',
    'stemma_frames_appended_total 2',
    'stemma_conflicts_total 0',
    'stemma_events_folded_total{read_model="all"} 3',
    'stemma_lag_records{partition="0",read_model="all"} 0',
    'stemma_records_stale_total{partition="0",read_model="all",reason="overtaken"} 0',
    'stemma_http_requests_total{method="GET",route="/api/histories/:history",status="200"} 1',
    'stemma_http_requests_total{method="GET",route="/api/histories/:history",status="404"} 1',
    'stemma_http_requests_total{method="GET",route="none",status="404"} 1',
  ];
  expect(expected.filter((line) => !lines.has(line))).toEqual([]);
  expect([...lines].some((line) => /^stemma_last_commit_timestamp_seconds\{.*\} 1\.?\d+/.test(line))).toBe(
    true,
  );
  expect([...lines].some((line) => line.startsWith('process_cpu_seconds_total'))).toBe(true);
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

test('the gateway is ready while its log and rows answer, and not ready once it is closing; it is alive all the time', async () => {
  const home = twoHistories();
  const closing = new AbortController();
  let trouble: Error | undefined;
  const check = () => (trouble ? Promise.reject(trouble) : home.operations.ready());
  const app = createGateway({
    home: { ...home, operations: { ...home.operations, ready: check } },
    closing: closing.signal,
  });
  const ready = async (): Promise<unknown[]> => {
    const response = await app.request('/health/ready');
    return [response.status, await response.json()];
  };
  expect(await ready()).toEqual([200, { status: 'ready' }]);
  trouble = fail('E_BROKERS_UNREACHABLE', 'nobody answers');
  expect(await ready()).toMatchObject([503, { error: { code: 'E_BROKERS_UNREACHABLE' } }]);
  trouble = fail('E_IO', 'no disk');
  expect(await ready()).toMatchObject([503, { error: { code: 'E_IO' } }]);
  trouble = undefined;
  closing.abort();
  expect(await ready()).toMatchObject([503, { error: { code: 'E_BUSY' } }]);
  expect((await app.request('/health/live')).status).toBe(200);
});
