import { isStemmaError } from '@stemma/errors';
import { findPostgres, freshDatabase, postgresFolder, startPostgres, type Postgres } from '@stemma/test-kit';
import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  listenTo,
  migrate,
  openDatabase,
  type Database,
  type DatabaseSession,
  type Deadlines,
} from '../src/index.ts';

const SECRET = 'hunter2 & co%';
/** For servers that do not answer; the others have all the time they want. */
const SOON = { connect: 2_000, answer: 1_000 };
const LATE = { connect: 30_000, answer: 30_000 };

/** The code of what fails, which names no password in anything that it says. */
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'no error';
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    expect(`${error.message} ${JSON.stringify(error.detail)}`).not.toContain('hunter2');
    return error.code;
  }
};

const opened: Database[] = [];
const opens = (url: string, deadlines: Deadlines = LATE): Database => {
  const database = openDatabase(url, deadlines);
  opened.push(database);
  return database;
};
const tries = (url: string, deadlines = LATE): Promise<string> =>
  codeOf(opens(url, deadlines).query('select 1'));

describe('a PostgreSQL of its own', () => {
  const none = postgresFolder() === undefined;
  beforeEach(({ skip }) => {
    if (none) skip('no PostgreSQL here');
  });
  let server: Postgres;
  let base: string;
  const url = (change: (url: URL) => unknown): string => {
    const changed = new URL(base);
    change(changed);
    return changed.href;
  };
  beforeAll(async () => {
    if (none) return;
    server = await startPostgres({ password: SECRET });
    const { href } = Object.assign(new URL(server.url), { password: encodeURIComponent(SECRET) });
    base = href;
  });
  afterAll(async () => {
    if (none) return;
    for (const database of opened.splice(0)) await database.close();
    await server.remove();
  });

  it('refuses a wrong password and an unknown database with a code, and no error contains the password', async () => {
    expect(await opens(base).query('select 1')).toEqual([['1']]);
    expect(await tries(url((to) => (to.password = 'hunter22')))).toBe('E_DATABASE_REFUSED');
    vi.stubEnv('PGPASSWORD', SECRET);
    expect(await tries(url((to) => (to.password = '')))).toBe('no error');
    vi.unstubAllEnvs();
    expect(await tries(url((to) => (to.pathname = '/nobody')))).toBe('E_DATABASE_REFUSED');
    expect(await tries(url((to) => to.searchParams.set('sslmode', 'require')))).toBe('E_DATABASE_UNTRUSTED');
    expect(() => openDatabase(base.replace('postgres:', 'mysql:'))).toThrow(
      expect.objectContaining({ code: 'E_USAGE', message: expect.not.stringContaining('hunter2') as string }),
    );
  });

  it('is trusted with TLS when its certificate comes from a known authority and names the host', async ({
    skip,
  }) => {
    if (spawnSync('openssl', ['version']).error) return skip('no openssl here');
    const [key, cert] = [join(server.folder, 'server.key'), join(server.folder, 'server.crt')];
    execFileSync(
      'openssl',
      // prettier-ignore
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
      { stdio: 'pipe' },
    );
    const { uid, gid } = statSync(join(server.folder, 'data'));
    for (const file of [key, cert]) {
      copyFileSync(file, join(server.folder, 'data', file === key ? 'server.key' : 'server.crt'));
      chownSync(join(server.folder, 'data', file === key ? 'server.key' : 'server.crt'), uid, gid);
    }
    const database = opens(base);
    await database.query('alter system set ssl = on');
    await database.query('select pg_reload_conf()');
    const mode = (name: string, file?: string) =>
      url((to) => {
        to.searchParams.set('sslmode', name);
        if (file !== undefined) to.searchParams.set('sslrootcert', file);
      });
    const encrypted = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    await until(async () => (await tries(mode('require'))) === 'no error');
    expect(await opens(mode('require')).query(encrypted)).toEqual([['t']]);
    expect(await opens(mode('verify-full', cert)).query(encrypted)).toEqual([['t']]);
    expect(await tries(mode('verify-full'))).toBe('E_DATABASE_UNTRUSTED');
    const otherName = mode('verify-full', cert).replace('127.0.0.1', 'localhost');
    expect(await tries(otherName)).toBe('E_DATABASE_UNTRUSTED');
  });

  it('that stops answering, or is killed, ends calls with a code within their deadline, and serves the next ones', async () => {
    const database = opens(base, SOON);
    await opens(base).query('create table kept (n integer primary key)');
    const add = (n: number): Promise<string> =>
      codeOf(
        database.transaction('write', (session) =>
          session.query('insert into kept values ($1) on conflict do nothing', [n]),
        ),
      );
    await until(async () => (await add(1)) === 'no error');
    const thaw = server.freeze();
    expect(
      await Promise.all([
        add(2),
        add(3),
        database.query('select 1').then(String, (error: unknown) => (error as Error).message),
      ]),
    ).toEqual([
      'E_DATABASE_UNREACHABLE',
      'E_DATABASE_UNREACHABLE',
      expect.stringContaining('cannot be reached'),
    ]);
    thaw();
    await until(async () => (await add(4)) === 'no error');
    await server.stop('SIGKILL');
    // What serves a connection may outlive it for a moment.
    await until(async () => (await add(5)) === 'E_DATABASE_UNREACHABLE');
    await until(async () => (await add(6)) === 'E_DATABASE_UNREACHABLE');
    await server.start();
    await until(async () => (await add(7)) === 'no error');
    const kept = (await database.query('select n from kept order by n')).map(([n]) => Number(n));
    expect(kept).toEqual(expect.arrayContaining([1, 4, 7]));
  });
});

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (const end = performance.now() + 120_000; !(await holds());)
    if (performance.now() > end) throw new Error('it did not come to hold in 120 s');
};

describe('a database', () => {
  it('at an address where nobody listens, or nobody answers, is reported as unreachable', async () => {
    const silent: Server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    expect(await tries(`postgres://me:hunter2@127.0.0.1:${port}/x`, SOON)).toBe('E_DATABASE_UNREACHABLE');
    silent.close();
    expect(await tries(`postgres://me:hunter2@127.0.0.1:${port}/x`)).toBe('E_DATABASE_UNREACHABLE');
    expect(await tries('postgres://me:hunter2@nowhere.invalid/x')).toBe('E_DATABASE_UNREACHABLE');
  });

  it('gets its schema once, from the first process, and a schema of a newer Stemma is refused', async ({
    skip,
  }) => {
    const found = await findPostgres();
    if ('skip' in found) return skip(found.skip);
    const fresh = await freshDatabase(found.url);
    try {
      const many = Array.from({ length: 6 }, () => opens(fresh.url));
      await Promise.all(many.map(migrate));
      const [first] = many;
      const version = await first?.query('select version from stemma.version');
      await first?.query('update stemma.version set version = version + 1');
      expect(await codeOf(migrate(first as Database))).toBe('E_DATABASE_VERSION');
      await first?.query('update stemma.version set version = version - 1');
      expect(await first?.query('select version from stemma.version')).toEqual(version);
      const busy = opens(`${fresh.url}?pool=1`, { ...LATE, connect: 5_000 });
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      const held = busy.transaction('read', () => released);
      expect(await codeOf(busy.query('select 1'))).toBe('E_BUSY');
      release();
      await held;
    } finally {
      for (const database of opened.splice(0)) await database.close();
      await fresh.drop();
    }
  });

  it('accepts writes of others when a writer is stopped in the middle', async ({ skip }) => {
    const found = await findPostgres();
    if ('skip' in found) return skip(found.skip);
    const fresh = await freshDatabase(found.url);
    const database = opens(fresh.url, { ...LATE, silence: 500 });
    await database.query('create table cursors (at integer)');
    await database.query('insert into cursors values (0)');
    const move = (to: number, session: DatabaseSession): Promise<unknown> =>
      session.query(`update cursors set at = ${to} where at = 0`);
    let wakeUp = (): void => undefined;
    const asleep = new Promise<void>((resolve) => (wakeUp = resolve));
    let begun = (): void => undefined;
    const moved = new Promise<void>((resolve) => (begun = resolve));
    const stopped = codeOf(
      database.transaction('write', async (session) => {
        await move(1, session);
        begun();
        await asleep;
        await session.query('select 1');
      }),
    );
    await moved;
    expect(await codeOf(database.transaction('write', (session) => move(2, session)))).toBe('no error');
    wakeUp();
    expect(await stopped).toBe('E_DATABASE_UNREACHABLE');
    expect(await database.query('select at from cursors')).toEqual([['2']]);
    await database.close();
    await fresh.drop();
  });

  it('behind a pool that sends statements to a session that did not prepare them is refused', async ({
    skip,
  }) => {
    const found = await findPostgres();
    if ('skip' in found) return skip(found.skip);
    const database = opens(`${found.url}?pool=1`);
    const ask = (): Promise<string> => codeOf(database.query('select $1::text', ['a']));
    expect(await ask()).toBe('no error');
    // What such a session does not know, or has forgotten, is the same.
    await database.query('deallocate all');
    expect(await ask()).toBe('E_DATABASE_REFUSED');
    await opened.pop()?.close();
  });

  it('wakes processes that wait for a channel, also after a restart', async ({ skip }) => {
    if (postgresFolder() === undefined) return skip('no PostgreSQL here');
    const own = await startPostgres();
    const database = opens(own.url);
    // So long that only a notification ends the waiting.
    const listener = listenTo(database, 'news', 1_000_000);
    const never = new AbortController().signal;
    try {
      for (let round = 0; round < 2; round++) {
        // It may have missed something before it listened.
        await listener.notified(never);
        const heard = listener.notified(never);
        await database.query("select pg_notify('news', '')");
        await heard;
        const lost = listener.notified(AbortSignal.timeout(1));
        await own.stop('SIGKILL');
        await lost;
        await own.start();
        await until(async () => (await codeOf(database.query('select 1'))) === 'no error');
      }
    } finally {
      await listener.close();
      await own.remove();
    }
  });
});
