import { isStemmaError } from '@stemma/errors';
import { isAccessDenied, type Retry } from '@stemma/home';
import { openAssignment, openDatabase, type Assignment } from '@stemma/postgres';

/** Which partitions this runner may work on. */
export type AssignedPartitions = {
  /** Asks again; without a connection to the database they are none. @throws what waiting does not help against */
  renew(): Promise<ReadonlySet<number>>;
  close(): Promise<void>;
};

/** Alone, a runner works on all. */
export const allPartitions = (partitions: number): AssignedPartitions => {
  const all = new Set(Array.from({ length: partitions }, (_, partition) => partition));
  return { renew: () => Promise.resolve(all), close: () => Promise.resolve() };
};

export type SharedPartitionsOptions = {
  /** `postgres://…`: runners that name the same database share the partitions. */
  readonly rows: string;
  readonly group: string;
  readonly partitions: number;
  /** Milliseconds without a statement after which others take the partitions of this runner. */
  readonly silence: number;
  readonly retry: Retry;
};

/** Runners of one database share the partitions of a log: the database gives none to two of them. */
export const sharedPartitions = ({
  rows,
  group,
  partitions,
  silence,
  retry,
}: SharedPartitionsOptions): AssignedPartitions => {
  const database = openDatabase(rows);
  let assignment: Assignment | undefined;
  return {
    renew: async () => {
      try {
        if (assignment === undefined)
          assignment = await retry.run(() => openAssignment(database, { group, partitions, silence }));
        else await assignment.renew();
        return new Set(assignment.partitions());
      } catch (error) {
        if (!isStemmaError(error) || !(error.row.retriable || isAccessDenied(error))) throw error;
        await assignment?.close();
        assignment = undefined;
        return new Set();
      }
    },
    close: async () => {
      await assignment?.close();
      await database.close();
    },
  };
};
