import type { Cursor } from './checkpoint.ts';
import { checkCursor } from './cursor.ts';
import type { EventLog, ReadBatch, ReadOptions } from './port.ts';

/**
 * Reads a log and checks the cursor again whenever a connection was made anew: a log can lose its end and grow again
 * meanwhile, and what comes over the new connection then does not follow on what was read before (record §5).
 */
export type RevalidatingReader = {
  /** True unless a connection was made anew since a cursor was checked last. */
  readonly holds: () => boolean;
  /**
   * Checks a cursor if a connection was made anew. @throws E_CURSOR_LOST
   */
  readonly check: (cursor: Cursor) => Promise<void>;
  /** What follows on a cursor, which is checked if a connection was made anew meanwhile. @throws E_CURSOR_LOST */
  readonly read: (cursor: Cursor, options?: ReadOptions) => Promise<ReadBatch>;
};

/** Must be called before the cursor is checked for the first time. */
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
