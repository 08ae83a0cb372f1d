import { keepYoungSmall } from '@stemma/machine';
import { setFlagsFromString } from 'node:v8';

/** V8 collects when what is old is a fifth larger than what was left; by itself it waits for up to four times of that. */
const GROWING_PERCENT = 20;

/** Megabytes of half a young generation with which threads begin. */
const YOUNG_OF_THREADS = 4;

/**
 * Runs `fn` while V8 keeps the heaps of this process small, in every thread: for long work, where what is made is soon forgotten and
 * nobody waits for a single answer. It collects more often, which takes a few percent of the processor time.
 */
export const withSmallHeaps = async <T>(fn: () => Promise<T>): Promise<T> => {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  const grow = keepYoungSmall(YOUNG_OF_THREADS);
  try {
    return await fn();
  } finally {
    grow();
    setFlagsFromString('--heap-growing-percent=0');
  }
};
