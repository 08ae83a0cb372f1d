import { fail } from '@stemma/errors';
import { seededRandom, shuffle } from '../random.ts';

/** Whether a statistic is larger than chance makes it. */
export type PermutationTest = {
  readonly observed: number;
  /** (1 + permuted ≥ observed) / (1 + permutations), pool §7.8. */
  readonly p: number;
  /** How many standard deviations above the mean of the permuted ones it lies; null if they are all the same. */
  readonly z: number | null;
};

export type PermutationOptions = {
  /** Default 1,999. */
  readonly permutations?: number;
  /** Default 0. */
  readonly seed?: number;
};

/** Statistics that differ by less, in proportion to the largest, are equal: they differ by rounding only. */
const ROUNDING = 1e-12;

/**
 * Tests several statistics of two samples at once, with the same permutations for all: the rows of both are divided anew, at
 * random, into samples of the same sizes. A null is a statistic that is not defined; permuted, it counts as one that is as large.
 *
 * @param statistics gives all statistics for a division; rows count from 0, those of a first; both sides are ascending
 * @throws E_USAGE for fewer than 1 permutation, or a seed that is none
 */
export const permutationTests = <Name extends string>(
  rowsOfA: number,
  rowsOfB: number,
  statistics: (a: Int32Array, b: Int32Array) => Readonly<Record<Name, number | null>>,
  { permutations = 1999, seed = 0 }: PermutationOptions = {},
): Readonly<Record<Name, PermutationTest | null>> => {
  if (!Number.isSafeInteger(permutations) || permutations < 1)
    throw fail('E_USAGE', `the number of permutations must be a whole number from 1, not ${permutations}`);
  const random = seededRandom(seed);
  const rows = rowsOfA + rowsOfB;
  const order = Int32Array.from({ length: rows }, (_, i) => i);
  const [inA, inB] = [new Int32Array(rowsOfA), new Int32Array(rowsOfB)];
  const isInA = new Uint8Array(rows);
  const divided = (): Readonly<Record<Name, number | null>> => {
    isInA.fill(0);
    for (let i = 0; i < rowsOfA; i++) isInA[order[i]!] = 1;
    for (let row = 0, a = 0, b = 0; row < rows; row++) {
      if (isInA[row] === 1) inA[a++] = row;
      else inB[b++] = row;
    }
    return statistics(inA, inB);
  };
  const observed = divided();
  const names = Object.keys(observed) as Name[];
  const permuted = new Map(names.map((name) => [name, [] as (number | null)[]]));
  for (let i = 0; i < permutations; i++) {
    shuffle(order, random);
    const found = divided();
    for (const name of names) permuted.get(name)?.push(found[name]);
  }
  const tests = names.map((name) => [name, testOf(observed[name], permuted.get(name) ?? [])]);
  return Object.fromEntries(tests) as Record<Name, PermutationTest | null>;
};

const testOf = (observed: number | null, permuted: readonly (number | null)[]): PermutationTest | null => {
  if (observed === null) return null;
  const known = permuted.filter((value) => value !== null);
  const largest = known.reduce((most, value) => Math.max(most, Math.abs(value)), Math.abs(observed));
  const bound = observed - ROUNDING * largest;
  const asLarge = permuted.filter((value) => value === null || value >= bound).length;
  const mean = known.reduce((sum, value) => sum + value, 0) / Math.max(1, known.length);
  const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, known.length - 1);
  const deviation = Math.sqrt(variance);
  return {
    observed,
    p: (1 + asLarge) / (1 + permuted.length),
    z: deviation <= ROUNDING * largest ? null : (observed - mean) / deviation,
  };
};
