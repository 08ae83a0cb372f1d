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
    close(): Promise<void>;
  };
};

type Connection = {
  command(sql: string, values?: readonly unknown[]): Promise<unknown>;
  querySingle<T>(sql: string): Promise<T | null>;
  close(): void;
};

type Adapter = {
  readonly getSQLiteEventStore: (options: {
    fileName: string;
    connectionOptions?: { singleton: boolean };
  }) => Store;
  readonly sqliteConnection: (options: { fileName: string }) => Connection;
  readonly sqliteRawSQLProjection: (definition: {
    canHandle: readonly string[];
    evolve: (event: Read) => string[];
  }) => object;
};

const adapter = (): Adapter => loadPeer('@event-driven-io/emmett-sqlite') as Adapter;

/** One connection for all, which is faster for it than its default of one a call. */
export const openEmmett = (fileName: string): Store =>
  adapter().getSQLiteEventStore({ fileName, connectionOptions: { singleton: true } });

export type { Message };

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

/**
 * Rebuilds a projection of all events from the beginning, as emmett documents it: a consumer with a projection.
 *
 * @returns milliseconds, and the rows there are afterwards.
 */
export const rebuildEmmett = async (
  fileName: string,
  events: number,
): Promise<{ readonly ms: number; readonly rows: number }> => {
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
  await consumer.close();
  const counted = await connection.querySingle<{ n: number }>(
    'SELECT (SELECT count(*) FROM nodes) + (SELECT count(*) FROM snapshots) + (SELECT count(*) FROM histories) AS n',
  );
  connection.close();
  return { ms, rows: counted?.n ?? 0 };
};
