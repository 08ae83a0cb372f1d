import { openGroupProjector, openSharedDatabase, type SharedDatabase } from '@stemma/home';
import type { EventLog } from '@stemma/log';
import { MAIN_GROUP } from '@stemma/projector';
import { hashesOf } from '../same-everywhere.ts';
import { until } from './processes.ts';

/** A database as a reader has it open. */
export type OpenRows = AsyncDisposable & {
  /** Resolves when the rows have what is in the log now, or as much of it as damage lets through. */
  readonly caughtUp: (log: EventLog) => Promise<void>;
  /** SHA-256 over the rows of each table. */
  readonly hashes: (log: EventLog) => Promise<Readonly<Record<string, string>>>;
  /** Where the rows stand in a partition. */
  readonly cursor: (log: EventLog, partition: number) => Promise<number>;
};

export const openRows = async (address: string): Promise<OpenRows> => {
  const shared: SharedDatabase = await openSharedDatabase(address);
  const cursor: OpenRows['cursor'] = async (log, partition) =>
    (await openGroupProjector(log, shared, MAIN_GROUP).checkpoint(partition))?.cursor.offset ?? 0;
  return {
    cursor,
    caughtUp: async (log) => {
      for (let partition = 0; partition < log.partitions; partition++) {
        const end = await log.end(partition);
        await until(
          `the rows to stand at ${partition}@${end}`,
          async () => (await cursor(log, partition)) >= end,
        );
      }
    },
    hashes: async (log) => hashesOf(await openGroupProjector(log, shared, MAIN_GROUP).generation()),
    [Symbol.asyncDispose]: () => shared.close(),
  };
};
