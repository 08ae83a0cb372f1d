import { isStemmaError } from '@stemma/errors';

const TRIES = 4;
const PAUSE = 100;

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
      await new Promise((resolve) => setTimeout(resolve, PAUSE * 2 ** (tries - 1)));
    }
  }
};
