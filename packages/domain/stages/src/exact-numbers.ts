import { canonicalJson, compareCodePoints } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { NumberText, type ExactJson } from './exact-json.ts';

/**
 * The number of a JSON token: with a point or an exponent a float, else an integer of any size (compiler-stages,
 * Numbers).
 *
 * @throws E_INPUT_NUMBER for a number too large for a float: JSON has no infinities.
 */
export const exactNumber = (token: string, what: string): ExactJson => {
  if (!/[.eE]/.test(token)) return exactInteger(token);
  const value = Number(token);
  if (!Number.isFinite(value)) throw fail('E_INPUT_NUMBER', `${what} holds a number beyond a float`);
  return Number.isSafeInteger(value) ? new NumberText(floatText(value), true) : value;
};

const exactInteger = (digits: string): ExactJson => {
  if (digits.length <= 17) {
    const value = Number(digits);
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  }
  return new NumberText(digits, false);
};

/** A float as Python prints it: the fewest digits that read back as itself, with a point or an exponent. */
const floatText = (value: number): string => {
  if (!Number.isSafeInteger(value)) return canonicalJson(value);
  return `${Object.is(value, -0) ? '-0' : String(value)}.0`;
};

/** A number as Python prints it. */
export const numberText = (value: number | bigint | NumberText): string => {
  if (value instanceof NumberText) return value.text;
  if (typeof value === 'bigint') return value.toString();
  return Number.isSafeInteger(value) ? String(value === 0 ? 0 : value) : canonicalJson(value);
};

/** An integer from a float as Python's `int` makes it: towards zero, exact. */
export const truncate = (value: number | NumberText): ExactJson => {
  const float = Math.trunc(typeof value === 'number' ? value : Number(value.text));
  return Number.isSafeInteger(float)
    ? float === 0
      ? 0
      : float
    : new NumberText(BigInt(float).toString(), false);
};

/** Orders two integers given in digits, without making numbers of them. */
export const compareDigits = (a: string, b: string): number => {
  const aBelow = a.startsWith('-');
  if (aBelow !== b.startsWith('-')) return aBelow ? -1 : 1;
  const order = a.length - b.length || compareCodePoints(a, b);
  return aBelow ? -order : order;
};
