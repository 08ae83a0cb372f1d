import { fail } from '@stemma/errors';
import type { Interval } from './effect-size.ts';

/** How many of those that tried passed. */
export type Passed = { readonly passed: number; readonly tried: number };

/** The standard normal distribution has 97.5 % below this value, and 80 % below the other. */
const Z_95 = 1.959963984540054;
const Z_POWER_80 = 0.8416212335729143;

/**
 * The interval of 95 % of the share that would pass (Wilson 1927, without continuity correction): 17 of 20 is 0.64 to 0.95.
 *
 * @throws E_USAGE for no try, or more that passed than tried
 */
export const wilsonInterval = ({ passed, tried }: Passed): Interval => {
  check({ passed, tried });
  const share = passed / tried;
  const z2 = (Z_95 * Z_95) / tried;
  const middle = (share + z2 / 2) / (1 + z2);
  const half = (Z_95 * Math.sqrt((share * (1 - share)) / tried + z2 / (4 * tried))) / (1 + z2);
  return { low: passed === 0 ? 0 : middle - half, high: passed === tried ? 1 : middle + half };
};

/**
 * How probable counts are that are at least as far apart, if both pass equally often: Fisher's exact test, two-sided (Fisher 1935; of
 * all tables with the same sums, those that are not more probable than this one).
 */
export const fisherExact = (a: Passed, b: Passed): number => {
  check(a);
  check(b);
  const all = a.tried + b.tried;
  const passed = a.passed + b.passed;
  const sums = logFactorials(all);
  const choose = (n: number, k: number): number => sumAt(sums, n) - sumAt(sums, k) - sumAt(sums, n - k);
  const logOf = (ofA: number): number =>
    choose(a.tried, ofA) + choose(b.tried, passed - ofA) - choose(all, passed);
  const here = logOf(a.passed);
  let p = 0;
  for (let ofA = Math.max(0, passed - b.tried); ofA <= Math.min(a.tried, passed); ofA++) {
    const log = logOf(ofA);
    // Equally probable tables come out a little apart.
    if (log <= here + 1e-9) p += Math.exp(log);
  }
  return Math.min(1, p);
};

/**
 * The tries that each of two would need, so that a difference as large as this one is seen four times in five at a level of 0.05
 * (Fleiss 1981, without continuity correction); null if there is none.
 */
export const triesNeeded = (a: Passed, b: Passed): number | null => {
  check(a);
  check(b);
  const [p, q] = [a.passed / a.tried, b.passed / b.tried];
  if (p === q) return null;
  const mean = (p + q) / 2;
  const spread = Z_95 * Math.sqrt(2 * mean * (1 - mean)) + Z_POWER_80 * Math.sqrt(p * (1 - p) + q * (1 - q));
  return Math.max(2, Math.ceil((spread / (p - q)) ** 2));
};

const check = ({ passed, tried }: Passed): void => {
  if (
    !Number.isSafeInteger(tried) ||
    tried < 1 ||
    !Number.isSafeInteger(passed) ||
    passed < 0 ||
    passed > tried
  )
    throw fail('E_USAGE', `${passed} of ${tried} is no share of tries`);
};

const logFactorials = (most: number): Float64Array => {
  const logs = new Float64Array(most + 1);
  for (let n = 2; n <= most; n++) logs[n] = (logs[n - 1] ?? 0) + Math.log(n);
  return logs;
};

const sumAt = (logs: Float64Array, n: number): number => logs[n] ?? 0;
