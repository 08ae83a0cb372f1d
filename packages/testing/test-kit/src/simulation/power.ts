/** Random numbers of one seed. */
export type Dice = {
  /** In [0, 1). */
  readonly roll: () => number;
  readonly int: (below: number) => number;
  readonly chance: (of: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
};

/** Of a seed (splitmix32): the same numbers in every run. */
export const openDice = (seed: number): Dice => {
  let state = seed | 0;
  const roll = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let t = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    t = Math.imul(t ^ (t >>> 15), 0x735a2d97);
    return ((t ^ (t >>> 15)) >>> 0) / 4294967296;
  };
  const int = (below: number): number => Math.floor(roll() * below);
  return {
    roll,
    int,
    chance: (of) => roll() < of,
    pick: <T>(list: readonly T[]) => list[int(list.length)] as T,
  };
};

/** How often the disk misbehaves: each in [0, 1), per call. */
export type DiskFaults = {
  /** A sync fails; what it was to make durable may be dropped, and later syncs know nothing of it. */
  readonly syncFails: number;
  /** Another call fails with EIO. */
  readonly callFails: number;
  /** Reads and writes that do less than they were asked to. */
  readonly short: number;
  /** A write that would make a file longer finds no space, after a part of it. */
  readonly full: number;
};

export const NO_FAULTS: DiskFaults = { syncFails: 0, callFails: 0, short: 0, full: 0 };

/** Thrown into a process that was killed in the middle of something: nothing it still does has an effect. */
export class Killed extends Error {}
