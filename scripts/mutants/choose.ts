import type { Mutant } from './find-mutants.ts';

/** A generator of numbers from 0 to below 1: the same for the same seed (mulberry32). */
const randomNumbers = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/**
 * A number of mutants of each package, in proportion to how many it has, with at least `least` of each that has so
 * many. The same for the same seed and sources; a larger count adds to a smaller one, but for the shares.
 */
export const chooseMutants = (
  byPackage: ReadonlyMap<string, readonly Mutant[]>,
  { seed, count, least }: { readonly seed: number; readonly count: number; readonly least: number },
): readonly Mutant[] => {
  const total = [...byPackage.values()].reduce((sum, { length }) => sum + length, 0);
  return [...byPackage].flatMap(([name, mutants]) => {
    const random = randomNumbers(Buffer.from(name).reduce((sum, byte) => sum * 31 + byte, seed));
    const share = Math.max(least, Math.round((count * mutants.length) / Math.max(1, total)));
    return shuffled(mutants, random)
      .slice(0, share)
      .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.from - b.from || a.to - b.to));
  });
};

const shuffled = <T>(list: readonly T[], random: () => number): T[] => {
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    [all[i], all[other]] = [all[other] as T, all[i] as T];
  }
  return all;
};
