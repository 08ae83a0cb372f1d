import { fail } from '@stemma/errors';
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { countFolding, countWriting, openMetrics, serveStatus, type StatusServer } from '../src/index.ts';

const metricsOfTest = (patience = 1000) =>
  openMetrics({ service: 'test', version: '1', ofProcess: false, patience });

/** The lines of a metric. */
const lines = (text: string, name: string): readonly string[] =>
  text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line));

let server: StatusServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

test('commands are counted by their outcome, and by what they appended', async () => {
  const metrics = metricsOfTest();
  const counts = countWriting(metrics);
  counts.written({ repeated: false, events: 3 });
  counts.written({ repeated: false, events: 2 });
  counts.written({ repeated: true, events: 0 });
  for (const code of ['E_CONFLICT', 'E_OUTCOME_UNKNOWN', 'E_COMMAND_INVALID', 'E_IO'] as const)
    counts.failed(fail(code, 'no'));
  counts.failed(new Error('a fault'));
  counts.overtaken(2);
  const text = await metrics.text();
  expect(lines(text, 'stemma_commands_total')).toEqual([
    'stemma_commands_total{outcome="accepted"} 2',
    'stemma_commands_total{outcome="repeated"} 1',
    'stemma_commands_total{outcome="refused"} 1',
    'stemma_commands_total{outcome="conflict"} 1',
    'stemma_commands_total{outcome="unknown"} 1',
    'stemma_commands_total{outcome="failed"} 2',
  ]);
  expect(lines(text, 'stemma_(frames|events)_appended_total')).toEqual([
    'stemma_frames_appended_total 2',
    'stemma_events_appended_total 5',
  ]);
  expect(lines(text, 'stemma_conflicts_total')).toEqual(['stemma_conflicts_total 2']);
});

test('the metrics of folding are lag, stale records by reason, rate, and time of the last commit', async () => {
  const metrics = metricsOfTest();
  let clock = 1_000_000;
  const status = { partition: 0, rows: 8, lag: 4, accepted: 7, damaged: 1, closed: true };
  const folded = countFolding({
    metrics,
    readModel: 'audit',
    now: () => clock,
    partitionStatus: async () => [{ ...status, stale: { repeated: 2, unfit: 1 } }],
  });
  // Two runs: what a progress says is the sum within its run.
  folded({ partition: 0, frames: 10, events: 100, batches: 1 });
  folded({ partition: 0, frames: 15, events: 160, batches: 2 });
  folded({ partition: 0, frames: 1, events: 20, batches: 1 });
  const text = await metrics.text();
  const of = '{partition="0",read_model="audit"}';
  expect(lines(text, 'stemma_lag_records')).toEqual([`stemma_lag_records${of} 4`]);
  expect(lines(text, 'stemma_rows_offset')).toEqual([`stemma_rows_offset${of} 8`]);
  expect(lines(text, 'stemma_partition_closed')).toEqual([`stemma_partition_closed${of} 1`]);
  expect(lines(text, 'stemma_records_stale_total')).toEqual([
    'stemma_records_stale_total{partition="0",read_model="audit",reason="repeated"} 2',
    'stemma_records_stale_total{partition="0",read_model="audit",reason="unfit"} 1',
  ]);
  expect(lines(text, 'stemma_(frames|events)_folded_total')).toEqual([
    'stemma_frames_folded_total{read_model="audit"} 16',
    'stemma_events_folded_total{read_model="audit"} 180',
  ]);
  expect(lines(text, 'stemma_last_commit_timestamp_seconds')).toEqual([
    'stemma_last_commit_timestamp_seconds{read_model="audit"} 1000',
  ]);
  expect(lines(text, 'stemma_replay_events_per_second')).toEqual([
    'stemma_replay_events_per_second{read_model="audit"} 6',
  ]);
  clock += 31_000;
  expect(lines(await metrics.text(), 'stemma_replay_events_per_second')).toEqual([
    'stemma_replay_events_per_second{read_model="audit"} 0',
  ]);
});

test('a scrape is answered although a source of its figures fails or never answers', async () => {
  const metrics = metricsOfTest(1);
  metrics.beforeScrape(() => Promise.reject(new Error('no broker')));
  metrics.beforeScrape(() => new Promise(() => undefined));
  expect(lines(await metrics.text(), 'stemma_service_info')).toEqual([
    'stemma_service_info{service="test",version="1"} 1',
  ]);
});

test('the status server gives liveness, readiness with its reason, and metrics to callers on the same machine', async () => {
  let trouble: Error | undefined = fail('E_BROKERS_UNREACHABLE', 'no broker answers');
  const ready = (): void => {
    if (trouble) throw trouble;
  };
  const { url, port } = (server = await serveStatus({ metrics: metricsOfTest(), port: 0, ready }));
  const get = async (path: string): Promise<unknown[]> => {
    const response = await fetch(`${url}${path}`);
    return [response.status, await response.json()];
  };
  expect(await get('/health/live')).toEqual([200, { status: 'ok' }]);
  expect(await get('/health/ready')).toMatchObject([503, { error: { code: 'E_BROKERS_UNREACHABLE' } }]);
  trouble = undefined;
  expect(await get('/health/ready')).toEqual([200, { status: 'ready' }]);
  expect(await get('/elsewhere')).toMatchObject([404, { error: { code: 'E_NOT_FOUND' } }]);
  const scraped = await fetch(`${url}/metrics`);
  expect(scraped.headers.get('content-type')).toContain('version=0.0.4');
  expect(await scraped.text()).toContain('stemma_service_info');

  const status = await new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/metrics', headers: { host: 'evil.example' } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(403);
});

test('the status server listens on loopback addresses only, and reports a port in use with a code', async () => {
  const metrics = metricsOfTest();
  const ready = (): void => undefined;
  await expect(serveStatus({ metrics, port: 0, host: '0.0.0.0', ready })).rejects.toMatchObject({
    code: 'E_NOT_ALLOWED',
  });
  server = await serveStatus({ metrics, port: 0, ready });
  await expect(serveStatus({ metrics, port: server.port, ready })).rejects.toMatchObject({
    code: 'E_ADDRESS_IN_USE',
  });
});
