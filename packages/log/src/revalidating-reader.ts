import { checkCursor } from './cursor.ts';
import type { EventLog, ReadBatch, ReadOptions } from './port.ts';
import type { Cursor } from './standing.ts';

/**
 * What a reader or writer knows of the connections that it reads by. A log can lose its end and grow again while a
 * connection is made anew, and what comes over the new one then does not follow on what was read before (record §5).
 */
export type Checked = {
  /** True unless a connection was made anew since a cursor was checked last. */
  readonly holds: () => boolean;
  /**
   * Checks a cursor if a connection was made anew. @throws E_CURSOR_LOST
   */
  readonly check: (cursor: Cursor) => Promise<void>;
  /** What follows on a cursor, which is checked if a connection was made anew meanwhile. @throws E_CURSOR_LOST */
  readonly read: (cursor: Cursor, options?: ReadOptions) => Promise<ReadBatch>;
};

/** To be called before the cursor is checked for the first time. */
export const openChecked = (log: EventLog): Checked => {
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
