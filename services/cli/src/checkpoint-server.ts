import { compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import {
  compareThreads,
  LANGGRAPH_HEAD,
  MOST_VALUE,
  parentsFirst,
  refuseLongValue,
  type StoredChannel,
  storedLine,
  type StoredValue,
  type ThreadName,
} from '@stemma/importers';
import type { Cells, Database } from '@stemma/postgres';

const KEY = ['thread_id', 'checkpoint_ns', 'checkpoint_id'];

const ADDRESS = /^postgres(ql)?:\/\//i;

/** True for the address of a PostgreSQL database. */
export const isServerAddress = (path: string): boolean => ADDRESS.test(path);

/** A path or an address as it may be shown: without the user, the password and the parameters. */
export const shownPath = (path: string): string => {
  if (!isServerAddress(path)) return path;
  if (!URL.canParse(path)) return 'postgres://…';
  const { host, pathname } = new URL(path);
  return `postgres://${host}${pathname}`;
};

/**
 * The checkpoints of a database of PostgresSaver as lines, each time from the beginning: thread by thread, parents first. Nothing is written, and
 * one checkpoint is held in memory at a time.
 *
 * @throws E_USAGE for an address that is none, E_FORMAT_UNKNOWN where its tables are not there, E_INPUT_SHAPE where they lack a column,
 * E_INPUT_TOO_LARGE for a value, E_DATABASE_…
 */
export async function* serverLines(address: string): AsyncIterable<Uint8Array> {
  const { openDatabase } = await import('@stemma/postgres');
  const database = openDatabase(address);
  try {
    for (const schema of await schemasOf(database)) {
      yield storedLine(LANGGRAPH_HEAD);
      const threads = await database.query(
        `SELECT DISTINCT thread_id, checkpoint_ns FROM ${schema}.checkpoints`,
      );
      const names = threads.map(([thread, ns]) => ({ thread: thread ?? '', ns: ns ?? '' }));
      for (const name of names.sort(compareThreads)) yield* threadLines(database, schema, name);
    }
  } finally {
    await database.close();
  }
}

const TABLES = {
  checkpoints: [...KEY, 'parent_checkpoint_id', 'type', 'checkpoint', 'metadata'],
  checkpoint_blobs: ['thread_id', 'checkpoint_ns', 'channel', 'version', 'type', 'blob'],
  checkpoint_writes: [...KEY, 'task_id', 'idx', 'channel', 'type', 'blob'],
};

/** The schemas that hold the tables of a saver, quoted. */
const schemasOf = async (database: Database): Promise<readonly string[]> => {
  const columns = await database.query(
    `SELECT quote_ident(table_schema), table_name, column_name FROM information_schema.columns
     WHERE table_name IN ('checkpoints', 'checkpoint_blobs', 'checkpoint_writes') AND table_schema NOT IN ('pg_catalog', 'information_schema')`,
  );
  const known = new Set(columns.map((cells) => cells.join('.')));
  const schemas = [...new Set(columns.map(([schema]) => schema ?? ''))].sort(compareCodePoints);
  const found = schemas.filter((schema) =>
    Object.keys(TABLES).every((table) => known.has(`${schema}.${table}.thread_id`)),
  );
  if (found.length === 0)
    throw fail(
      'E_FORMAT_UNKNOWN',
      `the database ${database.name} has no tables of LangGraph: checkpoints, checkpoint_blobs and checkpoint_writes`,
    );
  for (const schema of found)
    for (const [table, needed] of Object.entries(TABLES)) {
      const lacking = needed.filter((column) => !known.has(`${schema}.${table}.${column}`));
      if (lacking.length > 0)
        throw fail('E_INPUT_SHAPE', `the table ${schema}.${table} lacks ${lacking.join(', ')}`, {
          lacking: lacking.join(', '),
        });
    }
  return found;
};

const OF_THREAD = 'thread_id = $1 AND checkpoint_ns = $2';

async function* threadLines(
  database: Database,
  schema: string,
  { thread, ns }: ThreadName,
): AsyncIterable<Uint8Array> {
  const links = await database.query(
    `SELECT checkpoint_id, parent_checkpoint_id FROM ${schema}.checkpoints WHERE ${OF_THREAD} ORDER BY checkpoint_id`,
    [thread, ns],
  );
  const byId = links
    .map(([id, parent]) => ({ id: id ?? '', parent: parent ?? null }))
    .sort((a, b) => compareCodePoints(a.id, b.id));
  for (const { id, parent } of parentsFirst(byId)) {
    const [row] = await database.query(
      `SELECT ${limited('checkpoint::text')}, ${limited('metadata::text')}, octet_length(checkpoint::text)
       FROM ${schema}.checkpoints WHERE ${OF_THREAD} AND checkpoint_id = $3`,
      [thread, ns, id],
    );
    if (row === undefined) continue;
    const values = await database.query(
      `SELECT b.channel, b.type, ${limited('b.blob')}, octet_length(b.blob)
       FROM ${schema}.checkpoints c CROSS JOIN LATERAL jsonb_each_text(c.checkpoint -> 'channel_versions') v
       JOIN ${schema}.checkpoint_blobs b
         ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = v.key AND b.version = v.value
       WHERE c.thread_id = $1 AND c.checkpoint_ns = $2 AND c.checkpoint_id = $3 AND b.type <> 'empty'`,
      [thread, ns, id],
    );
    const writes = await database.query(
      `SELECT channel, type, ${limited('blob')}, octet_length(blob), to_jsonb(w) ->> 'task_path', task_id, idx
       FROM ${schema}.checkpoint_writes w WHERE ${OF_THREAD} AND checkpoint_id = $3`,
      [thread, ns, id],
    );
    for (const size of [row[2], ...values.map((cells) => cells[3]), ...writes.map((cells) => cells[3])])
      refuseLongValue(Number(size), id);
    yield storedLine({
      ...{ thread_id: thread, checkpoint_ns: ns, checkpoint_id: id, parent_checkpoint_id: parent },
      checkpoint: storedText(row[0] ?? null),
      metadata: storedText(row[1] ?? null),
      values: [...values].sort((a, b) => compareCodePoints(a[0] ?? '', b[0] ?? '')).map(storedChannel),
      writes: [...writes].sort(compareWrites).map(storedChannel),
    });
  }
}

/** The order in which LangGraph applies what tasks wrote. */
const compareWrites = (a: Cells, b: Cells): number =>
  compareCodePoints(a[4] ?? '', b[4] ?? '') ||
  compareCodePoints(a[5] ?? '', b[5] ?? '') ||
  Number(a[6]) - Number(b[6]);

/** A value that is not too long; null for one that is. */
const limited = (column: string): string =>
  `CASE WHEN octet_length(${column}) <= ${MOST_VALUE} THEN ${column} END`;

const storedText = (text: string | null): StoredValue => ({
  type: 'json',
  base64: Buffer.from(text ?? '{}').toString('base64'),
});

const storedChannel = ([channel, type, blob]: Cells): StoredChannel => ({
  channel: channel ?? '',
  type: type ?? 'json',
  base64: blob == null ? '' : Buffer.from(blob.slice(2), 'hex').toString('base64'),
});
