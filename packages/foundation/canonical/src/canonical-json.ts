import { fail } from '@stemma/errors';
import { compareCodePoints } from './compare.ts';
import type { WideJson, WideJsonObject } from './json-value.ts';

/**
 * The canonical JSON text of a value: keys by code point, no white space, all but U+0020…U+007E escaped, numbers as
 * Python's `repr` writes them (context-tree §2). Equal values give equal texts; the text is ASCII, so its length is its
 * length in bytes.
 *
 * Writes any own key; the parsers of input decide which keys are allowed.
 *
 * @throws E_INPUT_NUMBER for NaN and infinities, E_INPUT_SURROGATE for an unpaired surrogate.
 */
export const canonicalJson = (value: WideJson): string => {
  switch (typeof value) {
    case 'string':
      return canonicalText(value);
    case 'number':
      return canonicalNumber(value);
    case 'bigint':
      return value.toString();
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value)
        ? canonicalList(value as readonly WideJson[])
        : canonicalObject(value as WideJsonObject);
    default:
      throw fail('E_INPUT_SHAPE', `a ${typeof value} is not JSON`);
  }
};

const canonicalList = (list: readonly WideJson[]): string => {
  let text = '[';
  for (let i = 0; i < list.length; i++) text += (i === 0 ? '' : ',') + canonicalJson(list[i] as WideJson);
  return text + ']';
};

const canonicalObject = (object: WideJsonObject): string => {
  let text = '{';
  const keys = Object.keys(object);
  // Values from a record are in order already.
  if (!inOrder(keys)) keys.sort(compareCodePoints);
  for (const key of keys) {
    text +=
      (text.length === 1 ? '' : ',') + canonicalText(key) + ':' + canonicalJson(object[key] as WideJson);
  }
  return text + '}';
};

const inOrder = (keys: readonly string[]): boolean => {
  for (let i = 1; i < keys.length; i++)
    if (compareCodePoints(keys[i - 1] as string, keys[i] as string) > 0) return false;
  return true;
};

// What JSON.stringify leaves alone but the canonical form escapes: U+007F and everything above.
const ABOVE_ASCII = /[\u007f-\uffff]/g;
const PLAIN = /^[ !#-[\]-~]*$/;

const canonicalText = (text: string): string => {
  if (PLAIN.test(text)) return '"' + text + '"';
  if (!text.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a text holds an unpaired surrogate');
  return JSON.stringify(text).replace(
    ABOVE_ASCII,
    (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0'),
  );
};

/** A number as Python's `repr` writes it; safe integers in digits, `-0` as `0`. */
const canonicalNumber = (value: number): string => {
  if (Number.isSafeInteger(value)) return value === 0 ? '0' : String(value);
  if (!Number.isFinite(value)) throw fail('E_INPUT_NUMBER', `${String(value)} is not a JSON number`);
  const [mantissa = '', exponentText = ''] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const sign = exponent < 0 ? '-' : '+';
    return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const negative = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace('-', '').replace('.', '');
  if (exponent < 0) return `${negative}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${negative}${whole}.${digits.slice(exponent + 1) || '0'}`;
};
