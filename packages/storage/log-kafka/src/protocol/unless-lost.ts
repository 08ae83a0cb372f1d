import { REQUEST_TIMEOUT } from './connections.ts';

/** Milliseconds after which an attempt counts as failed: kafkajs can lose the end of a request with its connection. */
const LOST = 3 * REQUEST_TIMEOUT;

/** Neither an answer nor an error has come. */
export class Lost extends Error {}

/**
 * What the promise gives.
 *
 * @param held milliseconds that the broker may keep the request waiting
 * @throws Lost if it gives nothing for so long that nothing comes any more
 */
export const unlessLost = async <T>(promise: Promise<T>, held = 0): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const lost = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Lost(`no answer came in ${LOST + held} ms`)), LOST + held);
  });
  try {
    return await Promise.race([promise, lost]);
  } finally {
    clearTimeout(timer);
  }
};
