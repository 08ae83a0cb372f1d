import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Bytes of V8's young generation in the first thread, from which on it does not grow; by itself it does to 133 MB. It may double once
 * before that is seen.
 */
const YOUNG = 8 * 1024 * 1024;
/** How often it is looked at, in milliseconds. */
const EVERY = 50;

/**
 * Keeps V8's young generation in this thread small until what it returns is called. How large it may become is settled when a process
 * starts, so its growth is ended when it is large enough: in every thread, as V8 has one measure of growth for all. So threads that are
 * started meanwhile begin with what they may have at most, by their own limits.
 *
 * @param ofThreads megabytes of half a young generation with which threads begin that may have as many
 */
export const keepYoungSmall = (ofThreads: number): (() => void) => {
  setFlagsFromString(`--min-semi-space-size=${ofThreads}`);
  const look = (): void => setFlagsFromString(growth(isLarge() ? 1 : 2));
  const looking = setInterval(look, EVERY).unref();
  look();
  return () => {
    clearInterval(looking);
    setFlagsFromString(growth(2));
    setFlagsFromString('--min-semi-space-size=0');
  };
};

const growth = (factor: number): string => `--semi-space-growth-factor=${factor}`;

const isLarge = (): boolean =>
  getHeapSpaceStatistics().some(
    ({ space_name: name, space_size: size }) => name === 'new_space' && size >= YOUNG,
  );
