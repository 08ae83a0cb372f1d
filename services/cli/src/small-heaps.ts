import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Bytes of V8's young generation in the first thread, from which on it does not grow; by itself it does to 133 MB. It may double once
 * before that is seen.
 */
const YOUNG = 8 * 1024 * 1024;
/** How often it is looked at, in milliseconds. */
const EVERY = 50;

/** V8 collects when what is old is a fifth larger than what was left; by itself it waits for up to four times of that. */
const GROWING_PERCENT = 20;

/** Megabytes of half a young generation with which threads begin: they do not grow by themselves while the first one does not. */
const YOUNG_OF_THREADS = 4;

/**
 * Runs `fn` while V8 keeps the heaps of this process small, in every thread: for long work, where what is made is soon forgotten and
 * nobody waits for a single answer. It collects more often, which takes a few percent of the processor time.
 */
export const withSmallHeaps = async <T>(fn: () => Promise<T>): Promise<T> => {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString(`--min-semi-space-size=${YOUNG_OF_THREADS}`);
  // How large it may become is settled when a process starts, so its growth is ended when it is large enough.
  const look = (): void => setFlagsFromString(growth(isLarge() ? 1 : 2));
  const looking = setInterval(look, EVERY);
  look();
  try {
    return await fn();
  } finally {
    clearInterval(looking);
    setFlagsFromString(growth(2));
    setFlagsFromString('--min-semi-space-size=0');
    setFlagsFromString('--heap-growing-percent=0');
  }
};

const growth = (factor: number): string => `--semi-space-growth-factor=${factor}`;

const isLarge = (): boolean =>
  getHeapSpaceStatistics().some(
    ({ space_name: name, space_size: size }) => name === 'new_space' && size >= YOUNG,
  );
