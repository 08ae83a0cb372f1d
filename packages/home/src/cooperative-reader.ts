import type { EventLog } from '@stemma/log';
import { setImmediate } from 'node:timers/promises';

/** Milliseconds of reading without a pause. */
const MAX_RUN = 20;

/**
 * The same log, but whoever reads much of it at once lets others have a turn now and then: signals, requests. Files and
 * rows are read synchronously, so that nothing else would.
 */
export const cooperativeReader = (log: EventLog, now: () => number): EventLog => {
  let lastPause = now();
  return {
    ...log,
    read: async (partition, from, options) => {
      if (now() - lastPause > MAX_RUN) {
        await setImmediate();
        lastPause = now();
      }
      return log.read(partition, from, options);
    },
  };
};
