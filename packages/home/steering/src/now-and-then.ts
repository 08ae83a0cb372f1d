import type { Projection } from '@stemma/projector';

/** Milliseconds. */
const EVERY = 60_000;

/**
 * True the first time and a minute after the last time that it was: when it is worth to look at more rows. Never for
 * rows in a database, which would be asked for one by one.
 */
export const nowAndThen = (
  { isRemote }: Pick<Projection, 'isRemote'>,
  now: () => number = () => performance.now(),
): (() => boolean) => {
  let last: number | undefined;
  return () => {
    const at = now();
    if (isRemote === true || (last !== undefined && at - last < EVERY)) return false;
    last = at;
    return true;
  };
};
