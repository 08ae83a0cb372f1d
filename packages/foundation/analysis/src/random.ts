import { fail } from '@stemma/errors';

/** Numbers that look random and are the same for the same seed, on every machine. */
export type Random = {
  /** A whole number in [0, 2^32). */
  readonly next: () => number;
  /** A number in [0, 1), with 53 bits. */
  readonly unit: () => number;
  /** A whole number in [0, bound), each as likely as the others; `bound` at most 2^32. */
  readonly below: (bound: number) => number;
};

const rotated = (word: number, by: number): number => ((word << by) | (word >>> (32 - by))) >>> 0;

/**
 * A generator for a seed: xoshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM
 * Transactions on Mathematical Software 47, 2021), its state filled by SplitMix32 from both halves of the seed.
 *
 * @param seed a whole number from 0 to 2^53 − 1. @throws E_USAGE for another
 */
export const seededRandom = (seed: number): Random => {
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw fail('E_USAGE', `the seed must be a whole number from 0, not ${seed}`);
  const state = new Uint32Array(4);
  let mixed = ((seed >>> 0) ^ Math.imul(Math.floor(seed / 2 ** 32), 0x9e3779b1)) >>> 0;
  for (let i = 0; i < 4; i++) {
    mixed = (mixed + 0x9e3779b9) >>> 0;
    let word = mixed;
    word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    state[i] = word ^ (word >>> 15);
  }
  const next = (): number => {
    const result = Math.imul(rotated(Math.imul(state[1]!, 5) >>> 0, 7), 9) >>> 0;
    const shifted = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= shifted;
    state[3] = rotated(state[3]!, 11);
    return result;
  };
  return {
    next,
    unit: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53,
    below: (bound) => {
      // What lies above the last whole multiple of the bound would make small numbers more likely.
      const most = 2 ** 32 - (2 ** 32 % bound);
      let drawn = next();
      while (drawn >= most) drawn = next();
      return drawn % bound;
    },
  };
};

/** Puts a list into a random order, each order as likely as the others (Fisher and Yates, as Durstenfeld wrote it). */
export const shuffle = (list: Int32Array, random: Random): void => {
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const kept = list[i]!;
    list[i] = list[j]!;
    list[j] = kept;
  }
};
