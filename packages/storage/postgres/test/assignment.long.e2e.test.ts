import { isStemmaError } from '@stemma/errors';
import {
  findPostgres,
  freshDatabase,
  postgresFolder,
  startPostgres,
  type FreshDatabase,
} from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAssignment, openDatabase, type Assignment, type Database } from '../src/index.ts';

const found = await findPostgres();
const DEADLINE = { timeout: 120_000 };

/** Partitions of each, after all of them have looked. */
const look = async (among: readonly Assignment[]): Promise<readonly (readonly number[])[]> => {
  for (const each of among) await each.renew();
  return among.map((each) => each.partitions());
};
const sizes = (parts: readonly (readonly number[])[]): number[] =>
  parts.map(({ length }) => length).sort((a, b) => a - b);
const all = (parts: readonly (readonly number[])[]): number[] => parts.flat().sort((a, b) => a - b);

describe('partitions are assigned', () => {
  let fresh: FreshDatabase;
  let database: Database;
  const opened: Assignment[] = [];
  const open = async (group: string, partitions = 6, silence = 60_000): Promise<Assignment> => {
    const assignment = await openAssignment(database, { group, partitions, silence });
    opened.push(assignment);
    return assignment;
  };
  beforeAll(async () => {
    if ('skip' in found) return;
    fresh = await freshDatabase(found.url);
    database = openDatabase(fresh.url);
  });
  afterAll(async () => {
    for (const each of opened) await each.close();
    if ('skip' in found) return;
    await database.close();
    await fresh.drop();
  });

  it('to one, two, three and four processes in equal shares, and to the others when one leaves', async ({
    skip,
  }) => {
    if ('skip' in found) return skip(found.skip);
    const among = [await open('grows')];
    expect(await look(among)).toEqual([[0, 1, 2, 3, 4, 5]]);
    for (const [count, shares] of [
      [2, [3, 3]],
      [3, [2, 2, 2]],
      [4, [1, 1, 2, 2]],
    ] as const) {
      among.push(await open('grows'));
      expect(among).toHaveLength(count);
      // One look gives up, the next one takes what was given up.
      await look(among);
      const parts = await look(among);
      expect([sizes(parts), all(parts)]).toEqual([shares, [0, 1, 2, 3, 4, 5]]);
    }
    const before = await look(among);
    await among.pop()?.close();
    await look(among);
    const parts = await look(among);
    expect([sizes(parts), all(parts)]).toEqual([
      [2, 2, 2],
      [0, 1, 2, 3, 4, 5],
    ]);
    // Nobody gave anything up for one who left.
    for (const [i, part] of parts.entries())
      expect(part).toEqual(expect.arrayContaining([...(before[i] ?? [])]));
  });

  it('to as many processes as there are partitions and none to further ones; other groups do not matter', async ({
    skip,
  }) => {
    if ('skip' in found) return skip(found.skip);
    const among = [await open('few', 2), await open('few', 2), await open('few', 2)];
    await look(among);
    expect(sizes(await look(among))).toEqual([0, 1, 1]);
    expect(await look([await open('others', 2)])).toEqual([[0, 1]]);
  });

  it('again when a process is killed', async ({ skip }) => {
    if ('skip' in found) return skip(found.skip);
    await using child = await childWith(fresh.url, 'killed');
    const mine = await open('killed');
    await expect.poll(() => look([mine]).then(sizes), DEADLINE).toEqual([3]);
    await child.kill('SIGKILL');
    await expect.poll(() => look([mine]), DEADLINE).toEqual([[0, 1, 2, 3, 4, 5]]);
  });

  it('again when a process is stopped for too long; when it resumes it learns that its session is lost', async ({
    skip,
  }) => {
    if ('skip' in found) return skip(found.skip);
    await using child = await childWith(fresh.url, 'stopped');
    const mine = await open('stopped');
    await expect.poll(() => look([mine]).then(sizes), DEADLINE).toEqual([3]);
    await child.kill('SIGSTOP');
    await expect.poll(() => look([mine]), DEADLINE).toEqual([[0, 1, 2, 3, 4, 5]]);
    await child.kill('SIGCONT');
    await expect.poll(() => child.said(), DEADLINE).toContain('E_DATABASE_UNREACHABLE');
  });

  it('to no process while the database is down, and again when it is back', async ({ skip }) => {
    if (postgresFolder() === undefined) return skip('no PostgreSQL here');
    const own = await startPostgres();
    const there = openDatabase(own.url);
    try {
      const before = await openAssignment(there, { group: 'g', partitions: 2 });
      await own.stop('SIGKILL');
      // What serves a connection may outlive it for a moment.
      await expect.poll(() => codeOf(before.renew()), DEADLINE).toBe('E_DATABASE_UNREACHABLE');
      await before.close();
      expect(await codeOf(openAssignment(there, { group: 'g', partitions: 2 }))).toBe(
        'E_DATABASE_UNREACHABLE',
      );
      await own.start();
      const after = await openAssignment(there, { group: 'g', partitions: 2 });
      expect(after.partitions()).toEqual([0, 1]);
      await after.close();
    } finally {
      await there.close();
      await own.remove();
    }
  });
});

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (isStemmaError(error) ? error.code : String(error)),
  );

/** A process that holds a share of six partitions (children/assigned.ts). */
const childWith = async (url: string, group: string) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'children/assigned.ts'), url, group], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (data: Buffer) => (said += data.toString()));
  await expect.poll(() => said, DEADLINE).toContain('0 1 2 3 4 5');
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = signal === 'SIGKILL' && child.exitCode === null && child.signalCode === null;
    const closed = ended ? once(child, 'close') : undefined;
    child.kill(signal);
    await closed;
  };
  return { said: () => said, kill, [Symbol.asyncDispose]: () => kill('SIGKILL') };
};
