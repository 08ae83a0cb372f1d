import { canonicalJson, compareCodePoints, type WideJson } from '@stemma/canonical';
import type { Attribute, Ordering, SelectorValue } from './syntax.ts';

/** What an attribute of a node is: any JSON; undefined counts as null. */
export type Actual = WideJson | undefined;

type Scalar = string | number | bigint | boolean;
type Sign = (order: number) => boolean;

const SIGNS: { readonly [op in Ordering]: Sign } = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/**
 * Whether a value of an attribute satisfies `[key]` or `[key op value]` (context-tree §10.29, §10.30).
 *
 * @param known the attribute is a header with a type of its own: numbers and texts are then never ordered together.
 */
export const comparison = (attribute: Attribute, known: boolean): ((actual: Actual) => boolean) => {
  const { op, value } = attribute;
  if (op === null) return (actual) => actual !== null && actual !== undefined;
  if (op === '=') return (actual) => equals(actual ?? null, value);
  if (op === '!=') return (actual) => !equals(actual ?? null, value);
  if (op === '*=') return (actual) => containsText(actual ?? null, value as string);
  const sign = SIGNS[op];
  if (value === null) return () => false;
  const order = known ? orderOfKind : looseOrder(value);
  return (actual) => {
    if (actual === null || actual === undefined || typeof actual === 'object') return false;
    const found = order(actual, value);
    return found !== null && sign(found);
  };
};

/**
 * True if a value is a text with `text` in it, or holds one at any depth. Texts are compared as they are, names of fields are not
 * looked at, and nothing contains the empty text (context-tree §6: containing).
 */
export const containsText = (value: WideJson, text: string): boolean => {
  if (typeof value === 'string') return text !== '' && value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  for (const part of Array.isArray(value) ? (value as readonly WideJson[]) : Object.values(value))
    if (containsText(part, text)) return true;
  return false;
};

/** Looking for a text in so many characters is as much work as a test of a node. */
const CHARACTERS_A_TEST = 256;

/** How much looking for a text in a value costs, in tests. */
export const workOf = (value: Actual): number => sizeOfTexts(value) / CHARACTERS_A_TEST;

const sizeOfTexts = (value: Actual): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 1;
  for (const part of Array.isArray(value) ? (value as readonly WideJson[]) : Object.values(value))
    size += sizeOfTexts(part);
  return size;
};

const equals = (actual: WideJson, value: SelectorValue): boolean => {
  if (actual === null || value === null) return actual === value;
  if (typeof actual === 'object') return false;
  if (typeof actual === 'boolean' || typeof value === 'boolean') return wordOf(actual) === wordOf(value);
  if (typeof actual === 'string' || typeof value === 'string') return actual === value;
  // A number and a bigint are equal when their values are: what `==` says of them, and `===` does not.
  return actual == value; // eslint-disable-line eqeqeq
};

/** Booleans compare as their words, with texts too; numbers equal no text. */
const wordOf = (value: Scalar): string | null =>
  typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : null;

const isNumber = (value: Scalar): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** The order of two values of one kind; null: a number and a text have none. */
const orderOfKind = (actual: Scalar, value: Scalar): number | null => {
  if (isNumber(actual) && isNumber(value)) return numericOrder(actual, value);
  if (isNumber(actual) || isNumber(value)) return null;
  return compareCodePoints(wordOf(actual) ?? '', wordOf(value) ?? '');
};

/** The order on attributes of unknown type: as numbers if both can be read as such, else as texts. */
const looseOrder = (value: Scalar): ((actual: Scalar) => number) => {
  const number = numberIn(value);
  const text = textOf(value);
  return (actual) => {
    const other = number === null ? null : numberIn(actual);
    return number === null || other === null
      ? compareCodePoints(textOf(actual), text)
      : numericOrder(other, number);
  };
};

// Numbers and bigints compare by their exact values.
const numericOrder = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

const textOf = (value: Scalar): string =>
  typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : canonicalJson(value);

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const numberIn = (value: Scalar): number | bigint | null => {
  if (isNumber(value)) return value;
  if (typeof value === 'boolean' || !JSON_NUMBER.test(value)) return null;
  const number = Number(value);
  if (!Number.isFinite(number)) return null;
  return /^-?\d+$/.test(value) && !Number.isSafeInteger(number) ? BigInt(value) : number;
};
