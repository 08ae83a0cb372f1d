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
   * Checks a cursor if a connection was made anew. @throws E_CURSOR_LOST
   */
  readonly check: (cursor: Cursor) => Promise<void>;
  /** The records after a cursor, which is checked first if a connection was made anew. @throws E_CURSOR_LOST */
  readonly read: (cursor: Cursor, options?: ReadOptions) => Promise<ReadBatch>;
};

/** A reader for one log. Open it before the cursor is checked for the first time. */
export const openRevalidatingReader = (log: EventLog): RevalidatingReader => {
  const now = (): number => log.epoch?.() ?? 0;
  let epoch = now();
  const holds = (): boolean => now() === epoch;
  const check = async (cursor: Cursor): Promise<void> => {
    while (!holds()) {
      const begun = now();
      await checkCursor(log, cursor);
      epoch = begun;
    }
  };
  return {
    holds,
    check,
    read: async (cursor, options) => {
      for (;;) {
        const batch = await log.read(cursor.partition, cursor.offset, options);
        if (holds()) return batch;
        await check(cursor);
      }
    },
  };
};
