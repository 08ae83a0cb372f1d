import { fail, isStemmaError } from '@stemma/errors';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { readAddress, type DatabaseAddress } from './address.ts';
import { databaseError } from './database-error.ts';

/** Cells as PostgreSQL writes them as texts (`bytea` as `\x…`, `bool` as `t` and `f`); null for SQL's null. */
export type Cells = readonly (string | null)[];

/** What a parameter may be. A buffer goes as bytes; everything else as a text. */
export type Parameter = string | number | bigint | boolean | Uint8Array | null;

/** Statements with parameters as `$1`, `$2`, …, answered in order.  @throws the codes of {@link Database} */
export type DatabaseSession = {
  query(statement: string, values?: readonly Parameter[]): Promise<Cells[]>;
};

/**
 * A database, through a pool of connections made when they are needed. Nothing here waits forever: not for a connection,
 * and not for an answer, even where the machine behind is gone without a word.
 *
 * @throws every method: E_DATABASE_UNREACHABLE (also when it restarts, is read-only, or does not answer in time),
 * E_DATABASE_UNTRUSTED, E_DATABASE_REFUSED, E_BUSY (all connections in use for too long; a deadlock), E_IO,
 * E_ROWS_DAMAGED, E_INTERNAL
 */
export type Database = DatabaseSession & {
  /** `host:port/database` */
  readonly name: string;
  readonly address: DatabaseAddress;
  /**
   * Runs `fn` in a transaction; what it wrote is undone if it throws. If the connection is lost while it is committed,
   * nobody knows whether it was: E_DATABASE_UNREACHABLE, and the caller looks.
   */
  transaction<T>(mode: TransactionMode, fn: (session: DatabaseSession) => Promise<T>): Promise<T>;
  /** Deadlines, for those who open connections of their own. */
  readonly deadlines: Deadlines;
  close(): Promise<void>;
};

/** `read`: all statements see one state. */
export type TransactionMode = 'write' | 'read';

export type Deadlines = {
  /** Until there is a connection, ms. */
  readonly connect: number;
  /** Until a statement is answered, ms. */
  readonly answer: number;
  /** Until a write that says nothing more in its middle is undone, ms. Default 10,000. */
  readonly silence?: number;
};

const DEADLINES: Deadlines = { connect: 10_000, answer: 30_000 };

const SILENCE_MS = 10_000;

/** Whoever is stopped or cut off in the middle of a write keeps others from writing no longer than so many milliseconds. */
const beginOf = (mode: TransactionMode, silence = SILENCE_MS): string =>
  mode === 'read'
    ? 'begin isolation level repeatable read read only'
    : `begin isolation level read committed read write; set local idle_in_transaction_session_timeout = ${silence}`;

/** @throws E_USAGE. Connects with the first statement. */
export const openDatabase = (url: string, deadlines: Deadlines = DEADLINES): Database => {
  const address = readAddress(url);
  const { name } = address;
  const pool = new pg.Pool({
    ...clientOptions(address, deadlines),
    max: address.pool,
    idleTimeoutMillis: 60_000,
    // The server forgets statements of tables that were dropped with the connection.
    maxLifetimeSeconds: 900,
    allowExitOnIdle: true,
  });
  const clients = new Set<pg.PoolClient>();
  pool.on('connect', (client) => clients.add(client));
  pool.on('remove', (client) => clients.delete(client));
  // A connection that is lost while it rests leaves the pool, which makes another when one is needed.
  pool.on('error', () => undefined);

  /** A connection for `fn` alone. One that failed below SQL is not used again. */
  const withClient = async <T>(fn: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await connected(pool, name);
    let broken: unknown;
    const lost = (error: unknown): void => void (broken = error);
    client.on('error', lost);
    try {
      return await fn(client);
    } catch (error) {
      if (isBroken(error)) broken ??= error;
      throw error;
    } finally {
      if (broken !== undefined) destroyConnection(client);
      client.release(broken !== undefined);
      client.off('error', lost);
      if (broken !== undefined) client.on('error', () => undefined);
    }
  };

  return {
    name,
    address,
    deadlines,
    query: (...args) => withClient((client) => sessionOn(client, name, deadlines).query(...args)),
    transaction: (mode, fn) =>
      withClient(async (client) => {
        const session = sessionOn(client, name, deadlines);
        const begun = session.query(beginOf(mode, deadlines.silence));
        // Reading can go ahead; a write must not, lest it be one outside of any transaction.
        if (mode === 'write') await begun;
        begun.catch(() => undefined);
        try {
          const result = await fn(session);
          await begun;
          await session.query('commit');
          return result;
        } catch (error) {
          // What fails here fails because the connection is lost: then there is nothing left to take back.
          if (!isBroken(error)) await session.query('rollback');
          throw error;
        }
      }),
    async close() {
      if (pool.ending) return;
      const open = [...clients];
      await pool.end();
      // One that stopped answering does not say goodbye.
      setTimeout(() => open.forEach((client) => destroyConnection(client)), 1_000).unref();
    },
  };
};

/** How a connection is made, by the pool and by who listens. */
export const clientOptions = (address: DatabaseAddress, deadlines: Deadlines): pg.ClientConfig => ({
  host: address.host,
  port: address.port,
  user: address.user,
  database: address.database,
  password: address.password,
  ssl: address.tls,
  application_name: 'stemma',
  // Statements are sent without waiting for the answers to those before: a transaction costs two or three round trips.
  ...{ pipeline: true },
  options: PLANS,
  connectionTimeoutMillis: deadlines.connect,
  statement_timeout: deadlines.answer,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  types: AS_SENT,
});

/**
 * We ask for rows by their key, in its order. On tables that PostgreSQL has no statistics of yet it would sooner read all
 * and sort; and what it then thinks that costs would make it compile the statement.
 */
const PLANS = '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c jit=off';

/** Cells stay as they are sent: who asks knows the types, and reads them without losing a digit. */
const AS_SENT = { getTypeParser: () => (cell: unknown) => cell } as unknown as pg.CustomTypesConfig;

const connected = async (pool: pg.Pool, name: string): Promise<pg.PoolClient> => {
  const wasFull = pool.totalCount >= pool.options.max && pool.idleCount === 0;
  try {
    return await pool.connect();
  } catch (error) {
    if (wasFull && error instanceof Error && error.message.startsWith('timeout exceeded'))
      throw fail('E_BUSY', `all ${pool.options.max} connections to the database ${name} are in use`);
    throw databaseError(error, name);
  }
};

/** Statements on a connection, each with a deadline: behind it the connection is cut, since nobody is there. */
export const sessionOn = (client: pg.ClientBase, name: string, deadlines: Deadlines): DatabaseSession => {
  return {
    async query(text, values = []) {
      // The server ends a statement that takes too long by itself; this is for one that no longer does.
      const timer = setTimeout(
        () => destroyConnection(client, 'timeout: no answer'),
        deadlines.answer + GRACE_MS,
      );
      try {
        const given = {
          text,
          values: values.map(parameter),
          rowMode: 'array' as const,
          // Planned once a connection: half of what a small statement costs.
          ...(values.length > 0 && { name: nameOf(text) }),
        };
        return (await client.query<(string | null)[]>(given)).rows;
      } catch (error) {
        throw databaseError(error, name);
      } finally {
        clearTimeout(timer);
      }
    },
  };
};

const names = new Map<string, string>();

/** A short name for a statement; how many there are is bounded by the tables that are open. */
const nameOf = (text: string): string => {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url');
    names.set(text, name);
  }
  return name;
};

const GRACE_MS = 2_000;

const parameter = (value: Parameter): unknown =>
  value instanceof Uint8Array && !Buffer.isBuffer(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.length)
    : value;

/** Ends a connection on this side, whatever the other does. */
export const destroyConnection = (client: pg.ClientBase, why?: string): void => {
  const { stream } = (
    client as unknown as { readonly connection: { readonly stream: { destroy(error?: Error): void } } }
  ).connection;
  stream.destroy(why === undefined ? undefined : new Error(why));
};

/** The connection is of no use any more; after a mere refusal by SQL it is. */
const isBroken = (error: unknown): boolean =>
  isStemmaError(error, 'E_DATABASE_UNREACHABLE') &&
  !['57014', '25006'].includes(String(error.detail['state'] ?? ''));

/** The bytes of a cell of `bytea`: the library reads binary cells as texts, and loses what is not UTF-8. */
export const decodeBytea = (cell: string): Buffer => Buffer.from(cell.slice(2), 'hex');
