/** Decides who leaves a memory that is bounded by bytes. */
export type EvictionOrder = {
  /**
   * `key` is used now, and takes so many bytes from now on.
   *
   * @returns those that have to leave for that, and count as gone: never `key`, nor any that stays
   */
  use(key: string, bytes: number): readonly string[];
  /** `key`, if it is there, takes so many bytes from now on. That is no use of it. */
  resize(key: string, bytes: number): void;
  /** `key` has gone for another reason, and is forgotten. */
  forget(key: string): void;
};

type Entry = { bytes: number; used: number };

/** Of those that have left it is known when they were used last: about 100 bytes each. */
const MAX_GONE = 20_000;
/** The part of the room that newcomers share, while those that stay are used sooner than they come back. */
const NEWCOMERS = 1 / 8;

/**
 * Ten histories are written to in turn, and nine fit. If whoever was used longest ago made room, it would always be the one that
 * is used next, and none would ever be found in memory. So whoever comes back after a longer time than all that are here have
 * been unused is a newcomer, as one that was never here, and newcomers make room for each other: eight are found in memory each
 * time. A newcomer that is used again, before or after it left, and sooner than the one here that was used longest ago, takes the place of that
 * one. (This is the order of LIRS, Jiang and Zhang 2002, without its stack.)
 *
 * @param capacity bytes of all together; the one used last may take more alone
 * @param stays true for those that must not leave now
 */
export const openEvictionOrder = (
  capacity: number,
  stays: (key: string) => boolean = () => false,
): EvictionOrder => {
  // Each in the order of their last use.
  const settled = new Map<string, Entry>();
  const newcomers = new Map<string, Entry>();
  const gone = new Map<string, number>();
  const bytesOf = { settled: 0, newcomers: 0 };
  let uses = 0;
  let last: string | undefined;

  const take = (key: string): Entry | undefined => {
    const entry = settled.get(key) ?? newcomers.get(key);
    if (entry === undefined) return undefined;
    bytesOf[settled.delete(key) ? 'settled' : 'newcomers'] -= entry.bytes;
    newcomers.delete(key);
    return entry;
  };
  const leave = (key: string): void => {
    const { used } = take(key) as Entry;
    gone.set(key, used);
    if (gone.size > MAX_GONE) gone.delete(gone.keys().next().value as string);
  };
  const isFull = (): boolean => bytesOf.settled + bytesOf.newcomers > capacity;
  const settles = (key: string, bytes: number): boolean => {
    if (settled.has(key) || bytesOf.settled + bytesOf.newcomers + bytes <= capacity) return true;
    const before = newcomers.get(key)?.used ?? gone.get(key);
    const [oldest] = settled.values();
    return oldest === undefined || (before !== undefined && before > oldest.used);
  };
  const nextToLeave = (used: string): string | undefined => {
    const order = bytesOf.newcomers > capacity * NEWCOMERS ? [newcomers, settled] : [settled, newcomers];
    for (const entries of order)
      for (const key of entries.keys()) if (key !== used && !stays(key)) return key;
    return undefined;
  };

  return {
    use(key, bytes) {
      // Several uses on end are one.
      const isSettled = key === last && newcomers.has(key) ? false : settles(key, bytes);
      last = key;
      take(key);
      gone.delete(key);
      (isSettled ? settled : newcomers).set(key, { bytes, used: ++uses });
      bytesOf[isSettled ? 'settled' : 'newcomers'] += bytes;
      const left: string[] = [];
      while (isFull()) {
        const next = nextToLeave(key);
        if (next === undefined) break;
        leave(next);
        left.push(next);
      }
      return left;
    },
    resize(key, bytes) {
      const entry = settled.get(key) ?? newcomers.get(key);
      if (entry === undefined) return;
      bytesOf[settled.has(key) ? 'settled' : 'newcomers'] += bytes - entry.bytes;
      entry.bytes = bytes;
    },
    forget(key) {
      take(key);
      gone.delete(key);
    },
  };
};
