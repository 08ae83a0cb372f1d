import { openGroupProjector, openHome, openLogSource, openSharedDatabase } from '@stemma/home';
import { openDatabase } from '@stemma/postgres';
import { MAIN_GROUP } from '@stemma/projector';
import { findPostgres, freshDatabase } from '@stemma/test-kit';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { runRunner } from '../src/index.ts';

const SOON = { timeout: 60_000, interval: 20 };

it('a runner waits while the database refuses its user, is not ready meanwhile, and goes on when it may again', async ({
  skip,
}) => {
  const found = await findPostgres();
  if ('skip' in found) return skip(found.skip);
  const fresh = await freshDatabase(found.url);
  const user = `runner_${randomBytes(6).toString('hex')}`;
  const admin = openDatabase(fresh.url);
  const directory = mkdtempSync(join(tmpdir(), 'stemma-runner-'));
  const stop = new AbortController();
  await using closing = new AsyncDisposableStack();
  closing.defer(async () => {
    stop.abort();
    await admin.close();
    await fresh.drop();
    rmSync(directory, { recursive: true, force: true });
  });
  await (await openHome({ directory, create: true })).close();
  const shared = await openSharedDatabase(fresh.url);
  closing.defer(() => shared.close());
  const source = await openLogSource({ directory });
  closing.defer(() => source.close());
  const following = openGroupProjector(source.log, shared, MAIN_GROUP).follow(stop.signal);
  closing.defer(async () => {
    stop.abort();
    await following;
  });
  await admin.query(`create role ${user} login superuser`);
  closing.defer(async () => {
    await admin.query(`drop owned by ${user} cascade; drop role ${user}`);
  });

  const rows = new URL(fresh.url);
  rows.username = user;
  const said: string[] = [];
  let ended: unknown;
  const running = runRunner({
    ...{ directory, rows: rows.href, name: 'r', statusPort: 0, pause: 20, silence: 600, env: {} },
    ...{ signal: stop.signal, say: (sentence: string) => void said.push(sentence) },
  }).then(
    () => (ended = 'ended'),
    (error: unknown) => (ended = error),
  );
  closing.defer(async () => {
    stop.abort();
    await running;
  });
  const ready = async (): Promise<string> => {
    const url = /http:\S+/.exec(said.join(' '))?.[0] ?? '';
    const answer = await fetch(`${url}/health/ready`);
    return answer.status === 200 ? 'ready' : answer.text();
  };
  await vi.waitFor(async () => expect(await ready()).toBe('ready'), SOON);
  await admin.query(`alter role ${user} nologin`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [user]);
  await vi.waitFor(async () => expect(await ready()).toContain('refuses the user'), SOON);
  await admin.query(`alter role ${user} login`);
  await vi.waitFor(async () => expect(await ready()).toBe('ready'), SOON);
  expect(ended).toBeUndefined();
});
