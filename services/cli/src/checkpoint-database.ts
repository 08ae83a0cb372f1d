import { fail, isStemmaError } from '@stemma/errors';
import {
  compareThreads,
  LANGGRAPH_HEAD,
  MOST_VALUE,
  parentsFirst,
  refuseLongValue,
  type StoredChannel,
  storedLine,
  type StoredValue,
} from '@stemma/importers';
import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { beginsWith } from './probe-file.ts';

/** How a SQLite database begins. */
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');

/** True if a file begins as a SQLite database does. */
export const isDatabase = (path: string): boolean => beginsWith(path, MAGIC);

/**
 * The checkpoints of a database of LangGraph as lines, each time from the beginning: thread by thread, parents first. Nothing is written, and
 * one row is held in memory at a time.
 *
 * @throws E_FORMAT_UNKNOWN for another database, E_INPUT_SHAPE for one that is damaged or lacks a column, E_INPUT_TOO_LARGE for a value, E_IO
 */
export async function* databaseLines(path: string): AsyncIterable<Uint8Array> {
  let database: DatabaseSync | undefined;
  try {
    database = await openReadOnly(path);
    yield* lines(database, path);
  } catch (error) {
    throw codedError(error, path);
  } finally {
    database?.close();
  }
}

/**
 * A database without a log beside it is opened as one that nobody changes: SQLite makes no files beside it then. If somebody does, the two
 * readings of an import differ.
 */
const openReadOnly = async (path: string): Promise<DatabaseSync> => {
  const sqlite = await import('node:sqlite');
  const address = pathToFileURL(path);
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) address.searchParams.set('immutable', '1');
  const database = new sqlite.DatabaseSync(address, { readOnly: true, timeout: 5000 });
  // What a schema calls is not called; cells are checked before they are read.
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0');
  return database;
};

const OF_CHECKPOINTS = [
  'thread_id',
  'checkpoint_ns',
  'checkpoint_id',
  'parent_checkpoint_id',
  'checkpoint',
  'metadata',
];
const OF_WRITES = ['thread_id', 'checkpoint_ns', 'checkpoint_id', 'task_id', 'idx', 'channel', 'value'];

/** Which columns a table has that not every version has. */
const columnsOf = (
  database: DatabaseSync,
  table: string,
  needed: readonly string[],
): ReadonlySet<unknown> => {
  const rows = database.prepare(`PRAGMA table_info(${table})`).all();
  const columns = new Set(rows.map(({ name }) => name));
  const lacking = needed.filter((name) => !columns.has(name));
  if (lacking.length > 0)
    throw fail(
      'E_INPUT_SHAPE',
      `the table ${table} lacks ${lacking.join(', ')}: it is none of a saver of LangGraph, or of one before 1.0`,
      { lacking: lacking.join(', ') },
    );
  return columns;
};

function* lines(database: DatabaseSync, path: string): Iterable<Uint8Array> {
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name LIMIT 200")
    .all();
  const names = tables.map(({ name }) => String(name));
  if (!names.includes('checkpoints') || !names.includes('writes'))
    throw fail(
      'E_FORMAT_UNKNOWN',
      `${path} is a SQLite database with ${names.length === 0 ? 'no tables' : `the tables ${names.join(', ').slice(0, 300)}`}: it is none of LangGraph, which has checkpoints and writes`,
    );
  const typed = columnsOf(database, 'checkpoints', OF_CHECKPOINTS).has('type') ? 'type' : "'json'";
  const own = columnsOf(database, 'writes', OF_WRITES);
  const order = own.has('task_path') ? 'task_path, task_id, idx' : 'task_id, idx';
  const ofWrites = own.has('type') ? 'type' : "'json'";
  const where = 'thread_id = ? AND checkpoint_ns = ?';
  const threads = database
    .prepare('SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints')
    .all()
    .map(({ thread_id, checkpoint_ns }) => ({ thread: String(thread_id), ns: String(checkpoint_ns) }));
  const links = database.prepare(
    `SELECT checkpoint_id AS id, parent_checkpoint_id AS parent FROM checkpoints WHERE ${where} ORDER BY checkpoint_id`,
  );
  const row = database.prepare(
    `SELECT ${typed} AS type, ${limited('checkpoint')}, length(checkpoint) AS size, ${limited('metadata')} FROM checkpoints WHERE ${where} AND checkpoint_id = ?`,
  );
  const writes = database.prepare(
    `SELECT channel, ${ofWrites} AS type, ${limited('value')}, length(value) AS size FROM writes WHERE ${where} AND checkpoint_id = ? ORDER BY ${order}`,
  );
  yield storedLine(LANGGRAPH_HEAD);
  for (const { thread, ns } of threads.sort(compareThreads)) {
    const all = links
      .all(thread, ns)
      .map(({ id, parent }) => ({ id: String(id), parent: parent === null ? null : String(parent) }));
    for (const { id, parent } of parentsFirst(all)) {
      const found = row.get(thread, ns, id);
      if (found === undefined) continue;
      const written = writes.all(thread, ns, id);
      for (const { size } of [found, ...written]) refuseLongValue(Number(size), id);
      yield storedLine({
        ...{ thread_id: thread, checkpoint_ns: ns, checkpoint_id: id, parent_checkpoint_id: parent },
        checkpoint: storedValue(found['type'], found['checkpoint']),
        metadata: storedValue('json', found['metadata'] ?? '{}'),
        values: [],
        writes: written.map(({ channel, type, value }): StoredChannel => ({
          channel: String(channel),
          ...storedValue(type, value),
        })),
      });
    }
  }
}

/** A value that is not too long; null for one that is. */
const limited = (column: string): string =>
  `CASE WHEN length(${column}) <= ${MOST_VALUE} THEN ${column} END AS ${column}`;

const storedValue = (type: unknown, value: unknown): StoredValue => ({
  type: typeof type === 'string' ? type : 'json',
  base64: (value instanceof Uint8Array
    ? Buffer.from(value)
    : Buffer.from(typeof value === 'string' ? value : '')
  ).toString('base64'),
});

// Codes of SQLite, https://sqlite.org/rescode.html
const [BUSY, READ_ONLY, IO, CORRUPT, CANNOT_OPEN, NO_DATABASE] = [5, 8, 10, 11, 14, 26];

const codedError = (error: unknown, path: string): unknown => {
  if (isStemmaError(error) || !(error instanceof Error) || !('errcode' in error)) return error;
  const code = Number(error.errcode) & 0xff;
  if (code === CORRUPT || code === NO_DATABASE)
    return fail('E_INPUT_SHAPE', `${path} is a damaged SQLite database (${error.message})`);
  if ([BUSY, READ_ONLY, IO, CANNOT_OPEN].includes(code))
    return fail(
      'E_IO',
      `${path} cannot be read (${error.message}); close what writes to it, or import a copy`,
    );
  return fail('E_INPUT_SHAPE', `${path} cannot be read as checkpoints of LangGraph (${error.message})`);
};
