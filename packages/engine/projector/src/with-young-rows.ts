import { setFlagsFromString } from 'node:v8';

/**
 * Runs `fn` while V8 makes all new objects in its young generation, in every thread of the process: for long runs, as who answers
 * commands meanwhile has longer pauses.
 *
 * By itself it makes the objects of a line of code in the old one as soon as all of a hundred that it looks at live through a
 * collection. Those are the hundred that were made right before: with rows that wait for their commit, all of them do. Then every row
 * would be made there, and keep what it holds alive, until the whole heap is collected: a sixth of the processor time of a
 * replay in one thread, and 200 MB.
 */
export const withYoungRows = async <T>(fn: () => Promise<T>): Promise<T> => {
  setFlagsFromString('--no-allocation-site-pretenuring');
  try {
    return await fn();
  } finally {
    setFlagsFromString('--allocation-site-pretenuring');
  }
};
