import { fail } from '@stemma/errors';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { databaseError, POOLED } from './database-error.ts';
import {
  clientOptions,
  destroyConnection,
  sessionOn,
  type Database,
  type DatabaseSession,
} from './database.ts';

/** The partitions of a group that this process may fold. A database session of its own holds an advisory lock on each. */
export type Assignment = {
  /** The partitions that this process had at the last `renew`, ascending. */
  partitions(): readonly number[];
  /**
   * Counts the processes of the group, releases what is beyond this process's share and takes free partitions up to it.
   * Call it about once a second: the database ends a session that is silent for too long, and its partitions go to others.
   *
   * @throws E_DATABASE_UNREACHABLE when the session is lost, and its partitions with it: open another assignment; also
   *   the other codes of {@link Database}
   */
  renew(): Promise<void>;
  /** Releases all partitions and ends the session. */
  close(): Promise<void>;
};

export type AssignmentOptions = {
  /** All processes that name the same group in the same database share its partitions. */
  readonly group: string;
  /** The number of partitions; they are numbered from 0. */
  readonly partitions: number;
  /** Milliseconds without a statement after which the database ends the session of a process that hangs. Default 2,000. */
  readonly silence?: number;
};

const SILENCE_MS = 2_000;

/**
 * Joins the processes that share the partitions of a group, and takes a share. Of P partitions and n processes each gets
 * P / n, rounded up for some and down for the others. The database never gives one partition to two processes. When a
 * process ends, its session ends, and the database releases its locks.
 *
 * A process that was cut off from the database, or stopped, may believe for a while that it still has a partition. So
 * every write that relies on an assignment needs a check of its own, as the cursor is for rows (docs/decisions/0048).
 *
 * @throws E_DATABASE_REFUSED where a connection pooler sends the statements of one connection to several sessions; also
 *   the other codes of {@link Database}
 */
export const openAssignment = async (
  { address, name, deadlines }: Database,
  { group, partitions: count, silence = SILENCE_MS }: AssignmentOptions,
): Promise<Assignment> => {
  const limits = { ...deadlines, answer: Math.min(deadlines.answer, silence) };
  const client = new pg.Client(clientOptions(address, limits));
  // The next statement finds out what happened to the connection.
  client.on('error', () => destroyConnection(client));
  const session = sessionOn(client, name, limits);
  const key = keyOf(group);
  let mine: readonly number[] = [];

  const renew = async (): Promise<void> => {
    const { share, held, free } = sharing(await locksOf(session, key), count, name);
    const kept = held.slice(0, share);
    for (const partition of held.slice(share))
      await session.query('select pg_advisory_unlock($1, $2)', [key, lockOf(partition)]);
    for (const partition of free) {
      if (kept.length >= share) break;
      const [row] = await session.query('select pg_try_advisory_lock($1, $2)', [key, lockOf(partition)]);
      if (row?.[0] === 't') kept.push(partition);
    }
    mine = kept.sort((a, b) => a - b);
  };
  const close = async (): Promise<void> => {
    mine = [];
    const late = setTimeout(() => destroyConnection(client), 1_000);
    await client.end().catch(() => undefined);
    clearTimeout(late);
  };

  try {
    await connected(client, name);
    // PostgreSQL 13 has no such setting; there only TCP keepalives notice a process that hangs.
    await session.query(
      `select set_config(name, $1, false) from pg_settings where name = 'idle_session_timeout'`,
      [silence],
    );
    await session.query('select pg_advisory_lock_shared($1, $2)', [key, MEMBERS]);
    await renew();
  } catch (error) {
    await close();
    throw error;
  }
  return { partitions: () => mine, renew, close };
};

const connected = async (client: pg.Client, name: string): Promise<void> => {
  try {
    await client.connect();
  } catch (error) {
    throw databaseError(error, name);
  }
};

/** Every process of the group holds this lock, shared. Each other lock is that of a partition, and one process holds it. */
const MEMBERS = 0;
const lockOf = (partition: number): number => partition + 1;

/** The number of a group, the first of the two that name an advisory lock; 31 bits, because `pg_locks` shows it without a sign. */
const keyOf = (group: string): number =>
  createHash('sha256').update(group).digest().readUInt32BE(0) & 0x7fff_ffff;

type Lock = { readonly number: number; readonly process: number; readonly own: boolean };

const locksOf = async (session: DatabaseSession, key: number): Promise<readonly Lock[]> => {
  const rows = await session.query(
    `select objid, pid, pid = pg_backend_pid() from pg_locks
     where locktype = 'advisory' and classid = $1 and objsubid = 2 and granted
       and database = (select oid from pg_database where datname = current_database())`,
    [key],
  );
  return rows.map(([number, process, own]) => ({
    number: Number(number),
    process: Number(process),
    own: own === 't',
  }));
};

/** How many partitions this process may hold, which it holds, and which nobody holds. */
const sharing = (
  locks: readonly Lock[],
  count: number,
  name: string,
): { readonly share: number; readonly held: readonly number[]; readonly free: readonly number[] } => {
  const members = locks.filter(({ number }) => number === MEMBERS).sort((a, b) => a.process - b.process);
  const rank = members.findIndex(({ own }) => own);
  if (rank === -1) throw fail('E_DATABASE_REFUSED', `the database ${name}: ${POOLED}`);
  const share = Math.floor(count / members.length) + (rank < count % members.length ? 1 : 0);
  const all = Array.from({ length: count }, (_, partition) => partition);
  const takenBy = new Map(locks.map((lock) => [lock.number, lock.own]));
  return {
    share,
    held: all.filter((partition) => takenBy.get(lockOf(partition)) === true),
    free: all.filter((partition) => !takenBy.has(lockOf(partition))),
  };
};
