import { fail } from '@stemma/errors';
import type { Cursor } from './checkpoint.ts';
import { checkCursor } from './cursor.ts';
import type { EventLog, ReadBatch, ReadOptions } from './port.ts';
import { sameBytes } from './record.ts';

/**
 * A reader of one partition that checks its cursor when that may have become wrong, and not at each read: a log can lose its
 * end and grow again while a connection is made anew or its files are exchanged, and what follows then does not follow what
 * was read before (record §5).
 */
export type RevalidatingReader = {
  /** True unless the log was renewed since the last check of a cursor. */
  readonly holds: () => boolean;
  /**
   * Checks the cursor from which the caller goes on, unless it is the one that was reached last and the log was not
   * renewed since. @throws E_CURSOR_LOST, E_BUSY if connections do not last
   */
  readonly begin: (cursor: Cursor) => Promise<void>;
  /** The records after a cursor, which is checked first if the log was renewed. @throws E_CURSOR_LOST, E_BUSY */
  readonly read: (cursor: Cursor, options?: ReadOptions) => Promise<ReadBatch>;
  /** Says that this cursor follows from the last one and the records read after it. */
  readonly reached: (cursor: Cursor) => void;
};

export const openRevalidatingReader = (log: EventLog, partition: number): RevalidatingReader => {
  const now = (): number => log.epoch?.(partition) ?? 0;
  let epoch: number | undefined;
  let last: Cursor | undefined;
  const holds = (): boolean => now() === epoch;
  const check = async (cursor: Cursor): Promise<void> => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const begun = now();
      await checkCursor(log, cursor);
      epoch = begun;
      last = cursor;
      if (holds()) return;
    }
    throw unsteady(partition);
  };
  return {
    holds,
    begin: async (cursor) => {
      if (last === undefined || !isSameCursor(cursor, last) || !holds()) await check(cursor);
    },
    read: async (cursor, options) => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const batch = await log.read(partition, cursor.offset, options);
        if (holds()) return batch;
        await check(cursor);
      }
      throw unsteady(partition);
    },
    reached: (cursor) => {
      last = cursor;
    },
  };
};

const isSameCursor = (a: Cursor, b: Cursor): boolean =>
  a === b || (a.log === b.log && a.offset === b.offset && sameBytes(a.tail, b.tail));

/** How often something is read again because the log was renewed meanwhile. */
const MAX_TRIES = 100;

const unsteady = (partition: number): Error =>
  fail('E_BUSY', `the connection was lost ${MAX_TRIES} times while partition ${partition} was read`);
