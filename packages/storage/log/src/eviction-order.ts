import { RecentMap } from '@stemma/values';

/** Decides who leaves a memory that is bounded by bytes. */
export type EvictionOrder = {
  /**
   * `key` is used now, and takes so many bytes from now on.
   *
   * @param at the time of that, by any clock; for {@link leaveUnused}
   * @returns those that have to leave for that, and count as gone: never `key`, nor any that stays
   */
  use(key: string, bytes: number, at?: number): readonly string[];
  /**
   * Those that were used last before `before` leave, the oldest first, as long as all together take more than `floor` bytes. Most of
   * them are finished: whoever collects garbage goes through all that is kept, and most of what is kept is never asked for again.
   *
   * @returns those that have to leave, and count as gone
   */
  leaveUnused(before: number, floor: number): readonly string[];
  /** `key`, if it is there, takes so many bytes from now on. That is no use of it. */
  resize(key: string, bytes: number): void;
  /** `key` has gone for another reason, and is forgotten. */
  forget(key: string): void;
};

type Entry = { bytes: number; readonly used: number; readonly at: number };

/** Entries in the order of their last use, and the bytes of them together. */
type Part = { readonly entries: Map<string, Entry>; bytes: number };

/** Of so many that have left last, and at most twice as many, it is known when they were used: about 100 bytes each. */
const GONE = 10_000;
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
  const settled: Part = { entries: new Map(), bytes: 0 };
  const newcomers: Part = { entries: new Map(), bytes: 0 };
  const gone = new RecentMap<string, number>(GONE);
  let uses = 0;
  let last: string | undefined;

  const partOf = (key: string): Part => (settled.entries.has(key) ? settled : newcomers);
  const put = (part: Part, key: string, entry: Entry): void => {
    part.entries.set(key, entry);
    part.bytes += entry.bytes;
  };
  const take = (key: string): Entry | undefined => {
    const part = partOf(key);
    const entry = part.entries.get(key);
    part.entries.delete(key);
    part.bytes -= entry?.bytes ?? 0;
    return entry;
  };
  const leave = (key: string): void => {
    const { used } = take(key) as Entry;
    gone.set(key, used);
  };
  const hasRoom = (bytes: number): boolean => settled.bytes + newcomers.bytes + bytes <= capacity;
  const settles = (key: string, bytes: number): boolean => {
    if (settled.entries.has(key) || hasRoom(bytes)) return true;
    const before = newcomers.entries.get(key)?.used ?? gone.peek(key);
    const [oldest] = settled.entries.values();
    return oldest === undefined || (before !== undefined && before > oldest.used);
  };
  const nextToLeave = (used: string): string | undefined => {
    const order = newcomers.bytes > capacity * NEWCOMERS ? [newcomers, settled] : [settled, newcomers];
    for (const { entries } of order)
      for (const key of entries.keys()) if (key !== used && !stays(key)) return key;
    return undefined;
  };

  return {
    use(key, bytes, at = 0) {
      // Several uses on end are one.
      const isSettled = !(key === last && newcomers.entries.has(key)) && settles(key, bytes);
      last = key;
      take(key);
      gone.delete(key);
      put(isSettled ? settled : newcomers, key, { bytes, used: ++uses, at });
      const left: string[] = [];
      while (!hasRoom(0)) {
        const next = nextToLeave(key);
        if (next === undefined) break;
        leave(next);
        left.push(next);
      }
      return left;
    },
    leaveUnused(before, floor) {
      const left: string[] = [];
      for (const part of [settled, newcomers])
        for (const [key, { at }] of part.entries) {
          if (at >= before || settled.bytes + newcomers.bytes <= floor) break;
          if (stays(key)) continue;
          leave(key);
          left.push(key);
        }
      return left;
    },
    resize(key, bytes) {
      const part = partOf(key);
      const entry = part.entries.get(key);
      if (entry === undefined) return;
      part.bytes += bytes - entry.bytes;
      entry.bytes = bytes;
    },
    forget(key) {
      take(key);
      gone.delete(key);
    },
  };
};
