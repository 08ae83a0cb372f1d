import type { EventLog } from '@stemma/log';
import { setImmediate } from 'node:timers/promises';

/** Milliseconds of reading without a pause. */
const STRETCH = 20;

/**
 * The same log, but whoever reads much of it at once lets others have a turn now and then: signals, requests. Files and
 * rows are read synchronously, so that nothing else would.
 */
export const yieldingLog = (log: EventLog, now: () => number): EventLog => {
  let since = now();
  return {
    ...log,
    read: async (partition, from, options) => {
      if (now() - since > STRETCH) {
        await setImmediate();
        since = now();
      }
      return log.read(partition, from, options);
    },
  };
};
