import { openDatabase } from '@stemma/postgres';
import { findBroker, findPostgres, freshDatabase } from '@stemma/test-kit';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHome } from '@stemma/home';
import { expect, test, vi } from 'vitest';
import { runRelay } from '../src/index.ts';

test('while brokers are down the relay is alive but not ready, says once what it waits for, and ends at SIGTERM', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-relay-'));
  try {
    await (await openHome({ directory, create: true })).close();
    const said: string[] = [];
    const stop = new AbortController();
    const running = runRelay({
      directory,
      // Nothing listens on port 1.
      to: 'kafka://127.0.0.1:1/away',
      deadline: 200,
      statusPort: 0,
      signal: stop.signal,
      say: (sentence) => void said.push(sentence),
    });
    const ready = async (): Promise<string> => {
      const url = /http:\S+/.exec(said.join(' '))?.[0];
      if (url === undefined) return '';
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
      const answer = await fetch(`${url}/health/ready`);
      expect(answer.status).toBe(503);
      return answer.text();
    };
    for (const late = Date.now() + 60_000; !(await ready()).includes('127.0.0.1:1');) {
      if (Date.now() > late) throw new Error(`it said ${said.join('; ')}`);
      await sleep(50);
    }
    stop.abort();
    expect(await running).toMatchObject({ events: 0 });
    expect(said.filter((sentence) => sentence.startsWith('waiting')).length).toBe(1);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test('a relay waits for the topic of a home that has none yet, and goes on when it is there; once, or with a mistyped home, it does not wait', async ({
  skip,
}) => {
  const found = await findBroker();
  if ('skip' in found) return skip(found.skip);
  const directory = mkdtempSync(join(tmpdir(), 'stemma-relay-'));
  const stop = new AbortController();
  try {
    const address = `kafka://${found.brokers.join()}/absent-${randomUUID()}`;
    const said: string[] = [];
    const options = {
      directory,
      log: address,
      to: `${address}-out?partitions=1`,
      signal: stop.signal,
      say: (sentence: string) => void said.push(sentence),
    };
    await expect(runRelay({ ...options, once: true })).rejects.toMatchObject({ code: 'E_LOG_NOT_FOUND' });
    await expect(runRelay({ ...options, directory: join(directory, 'typo') })).rejects.toMatchObject({
      code: 'E_HOME_NOT_FOUND',
    });
    const running = runRelay(options);
    await expect.poll(() => said.join(), { timeout: 60_000 }).toContain('E_LOG_NOT_FOUND');
    const home = await openHome({ directory, log: `${address}?partitions=1`, create: true });
    await home.close();
    await expect.poll(() => said.join(), { timeout: 60_000 }).toContain('reconnected');
    stop.abort();
    await running;
  } finally {
    stop.abort();
    rmSync(directory, { recursive: true, force: true });
  }
}, 120_000);

test('a relay waits while the database with the contents refuses its user, says so where it is asked whether it is ready, and goes on when it may again', async ({
  skip,
}) => {
  const [broker, postgres] = [await findBroker(), await findPostgres()];
  if ('skip' in broker) return skip(broker.skip);
  if ('skip' in postgres) return skip(postgres.skip);
  const soon = { timeout: 60_000, interval: 20 };
  const stop = new AbortController();
  await using closing = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'stemma-relay-'));
  closing.defer(() => rmSync(directory, { recursive: true, force: true }));
  const fresh = await freshDatabase(postgres.url);
  closing.defer(() => fresh.drop());
  const admin = openDatabase(fresh.url);
  closing.defer(() => admin.close());
  const user = `relay_${randomBytes(6).toString('hex')}`;
  await admin.query(`create role ${user} login superuser`);
  closing.defer(async () => {
    await admin.query(`drop owned by ${user} cascade; drop role ${user}`);
  });
  await (await openHome({ directory, create: true })).close();
  const rows = new URL(fresh.url);
  rows.username = user;
  const said: string[] = [];
  const running = runRelay({
    ...{ directory, rows: rows.href, statusPort: 0, signal: stop.signal },
    to: `kafka://${broker.brokers.join()}/refused-${randomUUID()}?partitions=1`,
    say: (sentence) => void said.push(sentence),
  });
  running.catch(() => undefined);
  closing.defer(async () => {
    stop.abort();
    await running;
  });
  const ready = async (): Promise<string> => {
    const url = /http:\S+/.exec(said.join(' '))?.[0] ?? '';
    const answer = await fetch(`${url}/health/ready`);
    return answer.status === 200 ? 'ready' : answer.text();
  };
  await vi.waitFor(async () => expect(await ready()).toBe('ready'), soon);
  await admin.query(`alter role ${user} nologin`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [user]);
  const home = await openHome({ directory, rows: fresh.url });
  closing.defer(() => home.close());
  const content = 'long '.repeat(100_000);
  const steps = [
    { op: 'start' as const, name: 'h' },
    { op: 'inject' as const, text: content },
  ];
  await home.submit({ id: 'start', history: 'h', branchId: 0, by: { actor: 'ann' }, steps });
  await vi.waitFor(async () => expect(await ready()).toContain('refuses the user'), soon);
  await admin.query(`alter role ${user} login`);
  await vi.waitFor(async () => expect(await ready()).toBe('ready'), soon);
  stop.abort();
  expect((await running).events).toBeGreaterThan(0);
});
