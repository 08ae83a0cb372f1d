import { fail } from '@stemma/errors';
import type { Cursor } from './checkpoint.ts';
import { checkCursor } from './cursor.ts';
import type { EventLog, ReadBatch, ReadOptions } from './port.ts';

/**
 * A reader of a log that checks the cursor again after a connection was made anew. Meanwhile a log can lose its end and
 * grow again, and the records of the new connection then do not follow those read before (record §5).
 */
export type RevalidatingReader = {
  /** True unless a connection was made anew since the last check of a cursor. */
  readonly holds: () => boolean;
  /**
   * Checks a cursor if a connection was made anew. @throws E_CURSOR_LOST, E_BUSY if connections do not last
   */
  readonly check: (cursor: Cursor) => Promise<void>;
  /** The records after a cursor, which is checked first if a connection was made anew. @throws E_CURSOR_LOST, E_BUSY */
  readonly read: (cursor: Cursor, options?: ReadOptions) => Promise<ReadBatch>;
};

/** A reader for one log. Open it before the cursor is checked for the first time. */
export const openRevalidatingReader = (log: EventLog): RevalidatingReader => {
  const now = (): number => log.epoch?.() ?? 0;
  let epoch = now();
  const holds = (): boolean => now() === epoch;
  const check = async (cursor: Cursor): Promise<void> => {
    for (let tries = 0; !holds(); tries++) {
      if (tries >= MAX_TRIES) throw unsteady(cursor.partition);
      const begun = now();
      await checkCursor(log, cursor);
      epoch = begun;
    }
  };
  return {
    holds,
    check,
    read: async (cursor, options) => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const batch = await log.read(cursor.partition, cursor.offset, options);
        if (holds()) return batch;
        await check(cursor);
      }
      throw unsteady(cursor.partition);
    },
  };
};

/** How often something is read again because a connection was made anew meanwhile. */
const MAX_TRIES = 100;

const unsteady = (partition: number): Error =>
  fail('E_BUSY', `the connection was lost ${MAX_TRIES} times while partition ${partition} was read`);
