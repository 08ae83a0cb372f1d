import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import { createHash } from 'node:crypto';
import pg from 'pg';
import { readAddress, type DatabaseAddress } from './address.ts';
import { databaseError } from './database-error.ts';

/** The cells of a row in PostgreSQL's text format (`bytea` as `\x…`, `bool` as `t` and `f`); null is SQL's null. */
export type Cells = readonly (string | null)[];

/** A parameter of a statement. A buffer is sent as bytes, everything else as text. */
export type Parameter = string | number | bigint | boolean | Uint8Array | null;

/** Runs statements, with parameters `$1`, `$2`, …; the answers come in order. @throws the codes of {@link Database} */
export type DatabaseSession = {
  query(statement: string, values?: readonly Parameter[]): Promise<Cells[]>;
};

/**
 * A PostgreSQL database and a pool that opens connections when they are needed. Every wait has a deadline: for a
 * connection and for an answer, even if the server's machine has disappeared.
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
   * Runs `fn` in a transaction and rolls it back if `fn` throws. If the connection is lost during the commit, it throws
   * E_DATABASE_UNREACHABLE, and nobody knows whether the commit happened: the caller must read and see.
   */
  transaction<T>(mode: TransactionMode, fn: (session: DatabaseSession) => Promise<T>): Promise<T>;
  /** For callers that open connections of their own. */
  readonly deadlines: Deadlines;
  close(): Promise<void>;
};

/** `read`: all statements of the transaction see the same state of the database. */
export type TransactionMode = 'write' | 'read';

export type Deadlines = {
  /** Milliseconds until a connection must be open. */
  readonly connect: number;
  /** Milliseconds until a statement must be answered. */
  readonly answer: number;
  /** Milliseconds without a statement after which the server rolls back an open write. Default 10,000. */
  readonly silence?: number;
};

const DEADLINES: Deadlines = { connect: 10_000, answer: 30_000 };

const SILENCE_MS = 10_000;

/** A process that is stopped or cut off during a write blocks other writers for at most this many milliseconds. */
const beginOf = (mode: TransactionMode, silence = SILENCE_MS): string =>
  mode === 'read'
    ? 'begin isolation level repeatable read read only'
    : `begin isolation level read committed read write; set local idle_in_transaction_session_timeout = ${silence}`;

/** Opens a pool for a database; it connects with the first statement. @throws E_USAGE for an address that cannot be read */
export const openDatabase = (url: string, deadlines: Deadlines = DEADLINES): Database => {
  const address = readAddress(url);
  const { name } = address;
  const pool = new pg.Pool({
    ...clientOptions(address, deadlines),
    max: address.pool,
    idleTimeoutMillis: 60_000,
    // A new connection makes the server forget prepared statements of tables that were dropped.
    maxLifetimeSeconds: 900,
    allowExitOnIdle: true,
  });
  const clients = new Set<pg.PoolClient>();
  pool.on('connect', (client) => clients.add(client));
  pool.on('remove', (client) => clients.delete(client));
  // The pool drops an idle connection that is lost, and opens another when one is needed.
  pool.on('error', () => undefined);

  /** Gives `fn` a connection of its own. After a failure below SQL the connection is not used again. */
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
        const session = withFirstCause(sessionOn(client, name, deadlines));
        const begun = session.query(beginOf(mode, deadlines.silence));
        // A read may be sent before `begin` is answered; a write must wait, or it might run outside a transaction.
        if (mode === 'write') await begun;
        begun.catch(() => undefined);
        try {
          const result = await fn(session);
          await begun;
          await session.query('commit');
          return result;
        } catch (error) {
          // The rollback fails only if the connection is lost, and then the server rolls back.
          if (!isBroken(error)) await session.query('rollback');
          throw error;
        }
      }),
    async close() {
      if (pool.ending) return;
      const open = [...clients];
      await pool.end();
      // A server that no longer answers does not answer this either.
      setTimeout(() => open.forEach((client) => destroyConnection(client)), 1_000).unref();
    },
  };
};

/** The options of a connection, for the pool and for {@link listenTo}. */
export const clientOptions = (address: DatabaseAddress, deadlines: Deadlines): pg.ClientConfig => ({
  host: address.host,
  port: address.port,
  user: address.user,
  database: address.database,
  password: address.password,
  ssl: address.tls,
  application_name: 'stemma',
  // Pipelining: a statement is sent before the one before it is answered, so a transaction takes two or three round trips.
  ...{ pipeline: true },
  options: PLANS,
  connectionTimeoutMillis: deadlines.connect,
  statement_timeout: deadlines.answer,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  types: AS_SENT,
});

/**
 * Every query reads rows by their key, in the order of the key. On a table without statistics PostgreSQL would read
 * all rows and sort them, and its estimate of that cost would make it compile the statement (JIT).
 */
const PLANS = '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c jit=off';

/** Leaves every cell as text: the caller knows its type and reads it without losing a digit. */
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

/** Statements on one connection. Each has a deadline; after it the connection is closed, because no server answers. */
export const sessionOn = (client: pg.ClientBase, name: string, deadlines: Deadlines): DatabaseSession => {
  return {
    async query(text, values = []) {
      // The server itself cancels a slow statement; this timer is for a server that no longer can.
      const timer = setTimeout(
        () => destroyConnection(client, 'timeout: no answer'),
        deadlines.answer + GRACE_MS,
      );
      try {
        const given = {
          text,
          values: values.map(parameter),
          rowMode: 'array' as const,
          // The server plans a named statement once for a connection; planning is half the cost of a small one.
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

/** PostgreSQL's `in_failed_sql_transaction`: a statement before this one failed, and that one says why. */
const ABORTED = '25P02';

/**
 * The session of a transaction. Statements are sent together, so a caller may hear of the second before the first that failed: what
 * it then hears is the reason, not that the transaction is aborted.
 */
const withFirstCause = (session: DatabaseSession): DatabaseSession => {
  let first: StemmaError | undefined;
  return {
    query: async (...args) => {
      try {
        return await session.query(...args);
      } catch (error) {
        if (!isStemmaError(error)) throw error;
        if (error.detail['state'] === ABORTED && first !== undefined) throw first;
        first ??= error;
        throw error;
      }
    },
  };
};

const names = new Map<string, string>();

/** A short name for a prepared statement. The number of open tables bounds how many names there are. */
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

/** Closes a connection on this side, whatever the server does. */
export const destroyConnection = (client: pg.ClientBase, why?: string): void => {
  const { stream } = (
    client as unknown as { readonly connection: { readonly stream: { destroy(error?: Error): void } } }
  ).connection;
  stream.destroy(why === undefined ? undefined : new Error(why));
};

/** True if the connection cannot be used any more; after an SQL error it can. */
const isBroken = (error: unknown): boolean =>
  isStemmaError(error, 'E_DATABASE_UNREACHABLE') &&
  !['57014', '25006'].includes(String(error.detail['state'] ?? ''));

/** The bytes of a `bytea` cell. They come as hexadecimal text, because the library reads binary cells as UTF-8 and loses bytes. */
export const decodeBytea = (cell: string): Buffer => Buffer.from(cell.slice(2), 'hex');
