import { backOff, isStemmaError } from '@stemma/errors';
import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 4;
const PAUSES = { first: 100, longest: 400 };

/**
 * What `send` gives. Where it is not known whether a command was recorded (no answer came, or the server says so), the
 * same command is sent again, with the same id: it has one effect however often it arrives (record §3).
 */
export const sendWithRetry = async <T>(send: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      const unknown = isStemmaError(error, 'E_OUTCOME_UNKNOWN') || isStemmaError(error, 'E_IO');
      if (!unknown || tries >= TRIES) throw error;
      await sleep(backOff(tries, PAUSES));
    }
  }
};
