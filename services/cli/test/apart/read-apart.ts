import { openGroupProjector, openSharedDatabase, type SharedDatabase } from '@stemma/home';
import type { EventLog } from '@stemma/log';
import { GROUPS } from '@stemma/projector';
import { hashesOf } from '../same-everywhere.ts';
import { until } from './processes.ts';

/** A database as a reader has it open. */
export type OpenRows = AsyncDisposable & {
  /** Resolves when every group has what is in the log now, or as much of it as damage lets through. */
  readonly caughtUp: (log: EventLog) => Promise<void>;
  /** SHA-256 over the rows of each table, as each group has them. */
  readonly hashes: (log: EventLog) => Promise<readonly Readonly<Record<string, string>>[]>;
  /** Where the rows of a group stand in a partition. */
  readonly cursor: (log: EventLog, group: string, partition: number) => Promise<number>;
};

export const openRows = async (address: string): Promise<OpenRows> => {
  const shared: SharedDatabase = await openSharedDatabase(address);
  const cursor: OpenRows['cursor'] = async (log, name, partition) => {
    const group = GROUPS.find((each) => each.name === name);
    if (group === undefined) throw new RangeError(name);
    return (await openGroupProjector(log, shared, group).checkpoint(partition))?.cursor.offset ?? 0;
  };
  return {
    cursor,
    caughtUp: async (log) => {
      for (let partition = 0; partition < log.partitions; partition++) {
        const end = await log.end(partition);
        for (const { name } of GROUPS)
          await until(
            `${name} to stand at ${partition}@${end}`,
            async () => (await cursor(log, name, partition)) >= end,
          );
      }
    },
    hashes: async (log) => {
      const all = [];
      for (const group of GROUPS)
        all.push(await hashesOf(await openGroupProjector(log, shared, group).generation()));
      return all;
    },
    [Symbol.asyncDispose]: () => shared.close(),
  };
};
