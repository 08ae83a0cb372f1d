import { backOff, isStemmaError } from '@stemma/errors';

const TRIES = 4;
const PAUSES = { first: 100, longest: 400 };

/**
 * Returns what `send` returns. If nobody knows whether the command was recorded (no answer came, or the server says so),
 * it sends the command again with the same id: a command has one effect, however often it arrives (record §3).
 */
export const sendWithRetry = async <T>(send: () => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      const unknown = isStemmaError(error, 'E_OUTCOME_UNKNOWN') || isStemmaError(error, 'E_IO');
      if (!unknown || tries >= TRIES) throw error;
      await pause(backOff(tries, PAUSES));
    }
  }
};

/** By a timer that pages have, too. */
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
