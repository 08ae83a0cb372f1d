import { loadPeer } from './install.ts';

type Message = { readonly type: string; readonly data: unknown };
type Read = Message & { readonly metadata: { readonly globalPosition: bigint; readonly streamName: string } };

type Store = {
  appendToStream(stream: string, events: readonly Message[]): Promise<unknown>;
  consumer(options: { pulling: { batchSize: number; pullingFrequencyInMs: number } }): {
    processor(options: {
      processorId: string;
      projection: object;
      startFrom: 'BEGINNING';
      stopAfter: (message: Read) => boolean;
    }): void;
    start(): Promise<void>;
  };
};

type Connection = {
  command(sql: string, values?: readonly unknown[]): Promise<unknown>;
  querySingle<T>(sql: string): Promise<T | null>;
  close(): void;
};

type Adapter = {
  readonly getSQLiteEventStore: (options: { fileName: string }) => Store;
  readonly sqliteConnection: (options: { fileName: string }) => Connection;
  readonly sqliteRawSQLProjection: (definition: {
    canHandle: readonly string[];
    evolve: (event: Read) => string[];
  }) => object;
};

const adapter = (): Adapter => loadPeer('@event-driven-io/emmett-sqlite') as Adapter;

/** A store as it comes: one connection a call. With one for all (`singleton`) it is no faster. */
export const openEmmett = (fileName: string): Store => adapter().getSQLiteEventStore({ fileName });

export type { Message, Store };

const quoted = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`;

const schema = [
  'CREATE TABLE nodes (history TEXT, id TEXT, parent TEXT, born INTEGER, died INTEGER, content TEXT, PRIMARY KEY (history, id)) WITHOUT ROWID',
  'CREATE TABLE snapshots (history TEXT, cycle INTEGER, tree_hash TEXT, nodes INTEGER, PRIMARY KEY (history, cycle)) WITHOUT ROWID',
  'CREATE TABLE histories (history TEXT PRIMARY KEY, cycles INTEGER) WITHOUT ROWID',
];

type Fields = { readonly [name: string]: unknown };

/** At most one statement an event, and no tree, no hash and no check: less than our read models do. */
const statements: Readonly<Record<string, (history: string, data: Fields) => string>> = {
  HistoryStarted: (history) => `INSERT INTO histories VALUES (${quoted(history)}, 0)`,
  NodeInserted: (history, { node, parent }) => {
    const { id, cycle, content } = node as Fields;
    return `INSERT INTO nodes VALUES (${quoted(history)}, ${quoted(id)}, ${quoted(parent)}, ${Number(cycle)}, NULL, ${quoted(content)})`;
  },
  TurnSealed: (history, { turn }) => {
    const { id, cycle } = turn as Fields;
    return `INSERT INTO nodes VALUES (${quoted(history)}, ${quoted(id)}, 'seq', ${Number(cycle)}, NULL, NULL)`;
  },
  NodeExpired: (history, { id }) =>
    `UPDATE nodes SET died = 1 WHERE history = ${quoted(history)} AND id = ${quoted(id)}`,
  SnapshotCommitted: (history, { cycle, treeHash, counts }) =>
    `INSERT INTO snapshots VALUES (${quoted(history)}, ${Number(cycle)}, ${quoted(treeHash)}, ${Number((counts as Fields)['nodes'])})`,
};

/** The events that come to a row. */
const inserting = Object.keys(statements).filter((type) => type !== 'NodeExpired');

/**
 * Its driver lets the end of one statement and the commit cross now and then, mostly on a busy machine; the commit is then
 * refused and the transaction rolled back.
 */
export const isCrossing = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('SQL statements in progress');

/**
 * Rebuilds a projection of all events from the beginning, as emmett documents it: a consumer with a projection.
 *
 * @returns milliseconds; undefined if a commit was refused, at which the consumer stops.
 */
export const rebuildEmmett = async (fileName: string, events: number): Promise<number | undefined> => {
  const { sqliteConnection, sqliteRawSQLProjection } = adapter();
  const connection = sqliteConnection({ fileName });
  for (const table of schema) await connection.command(table);
  const last = BigInt(events);
  const consumer = openEmmett(fileName).consumer({ pulling: { batchSize: 1000, pullingFrequencyInMs: 0 } });
  consumer.processor({
    processorId: 'bench',
    startFrom: 'BEGINNING',
    stopAfter: ({ metadata }) => metadata.globalPosition >= last,
    projection: {
      name: 'bench',
      ...sqliteRawSQLProjection({
        canHandle: Object.keys(statements),
        evolve: ({ type, data, metadata }) => {
          const statement = statements[type]?.(metadata.streamName, data as Fields);
          return statement === undefined ? [] : [statement];
        },
      }),
    },
  });
  const started = performance.now();
  await consumer.start();
  const ms = performance.now() - started;
  // The store's own note of how far the projection came cannot be asked: from the second batch on it stays where it is.
  const found = await connection.querySingle<{ rows: number; expected: number }>(
    `SELECT (SELECT count(*) FROM nodes) + (SELECT count(*) FROM snapshots) + (SELECT count(*) FROM histories) AS rows,
      (SELECT count(*) FROM emt_messages WHERE message_type IN (${inserting.map(quoted).join(', ')})) AS expected`,
  );
  connection.close();
  return found !== null && found.rows === found.expected ? ms : undefined;
};
