import { compareExact } from './code-points.ts';
import { isExactList, NumberText, type ExactJson, type ExactObject } from './exact-json.ts';
import { numberText } from './exact-numbers.ts';
import { isSecretKey, isVolatileKey, REDACTED } from './sanitise.ts';

/** plain(v): the canonical JSON text of a value as it is: keys by code point, ASCII, numbers as Python prints them. */
export const printPlain = (value: ExactJson): string => print(value, false);

/** canonical(v): the same of sanitise(v). */
export const printCanonical = (value: ExactJson): string => print(value, true);

const print = (value: ExactJson, sanitised: boolean): string => {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
    case 'bigint':
      return numberText(value);
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      if (value === null) return 'null';
      if (value instanceof NumberText) return value.text;
      return isExactList(value) ? printList(value, sanitised) : printObject(value, sanitised);
  }
};

const printList = (list: readonly ExactJson[], sanitised: boolean): string => {
  let text = '[';
  for (let i = 0; i < list.length; i++) text += (i === 0 ? '' : ',') + print(list[i] as ExactJson, sanitised);
  return text + ']';
};

const printObject = (object: ExactObject, sanitised: boolean): string => {
  let text = '{';
  const keys = Object.keys(object);
  if (!inOrder(keys)) keys.sort(compareExact);
  for (const key of keys) {
    if (sanitised && isVolatileKey(key)) continue;
    const value = sanitised && isSecretKey(key) ? REDACTED : (object[key] as ExactJson);
    text += (text.length === 1 ? '' : ',') + quote(key) + ':' + print(value, sanitised);
  }
  return text + '}';
};

const inOrder = (keys: readonly string[]): boolean => {
  for (let i = 1; i < keys.length; i++)
    if (compareExact(keys[i - 1] as string, keys[i] as string) > 0) return false;
  return true;
};

const PLAIN = /^[ !#-[\]-~]*$/;
const ABOVE_ASCII = /[\u007f-\uffff]/g;

/** A text in quotes, all but U+0020…U+007E escaped, lone surrogates too. */
export const quote = (text: string): string =>
  PLAIN.test(text)
    ? `"${text}"`
    : JSON.stringify(text).replace(
        ABOVE_ASCII,
        (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0'),
      );
