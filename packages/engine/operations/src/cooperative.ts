import type { EventLog } from '@stemma/log';
import { setImmediate } from 'node:timers/promises';

/** Long work that lets others have a turn now and then: commands that wait for the disk, requests, signals. */
export type Cooperative = {
  /** What to await before the next piece of work; undefined: go on. */
  readonly pause: () => Promise<void> | undefined;
  /** The same log, but whoever reads much of it at once pauses. Files and rows are read synchronously. */
  readonly reader: (log: EventLog) => EventLog;
};

/** Milliseconds of work without a pause: what an acknowledgement of a command waits for at most. */
const MAX_RUN = 1;

export const openCooperative = (now: () => number): Cooperative => {
  let lastPause = now();
  const wait = async (): Promise<void> => {
    await setImmediate();
    lastPause = now();
  };
  const pause = (): Promise<void> | undefined => (now() - lastPause > MAX_RUN ? wait() : undefined);
  return {
    pause,
    reader: (log) => ({
      ...log,
      read: async (partition, from, options) => {
        await pause();
        return log.read(partition, from, options);
      },
    }),
  };
};
