import type { Projection } from './emmett-rows.ts';
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
export const rebuildEmmett = async (
  fileName: string,
  events: number,
  { schema, statements, oneEach }: Projection,
): Promise<number | undefined> => {
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
        evolve: ({ type, data, metadata }) => [
          ...(statements[type]?.(metadata.streamName, data as Readonly<Record<string, unknown>>) ?? []),
        ],
      }),
    },
  });
  const started = performance.now();
  await consumer.start();
  const ms = performance.now() - started;
  // The store's own note of how far the projection came cannot be asked: from the second batch on it stays where it is.
  let complete = true;
  for (const [table, type] of oneEach) {
    const found = await connection.querySingle<{ rows: number; events: number }>(
      `SELECT (SELECT count(*) FROM ${table}) AS rows,
        (SELECT count(*) FROM emt_messages WHERE message_type = '${type}') AS events`,
    );
    complete &&= found !== null && found.rows === found.events;
  }
  connection.close();
  return complete ? ms : undefined;
};
