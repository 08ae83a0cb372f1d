import { isExactList, keysAsWritten, NumberText, type ExactJson } from './exact-json.ts';
import { numberText } from './exact-numbers.ts';

// What `str.strip` and `\s` mean in Python: not what `trim` and `\s` mean in JavaScript.
const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const HEAD = new RegExp(`^[${SPACE}]+`);
const LONE = new RegExp(`[${SPACE}]`);

/** White space of Python as the inside of a character class. */
export const PYTHON_SPACE = SPACE;

/** A text without white space at its ends, as Python's `strip` gives it. */
export const strip = (text: string): string => {
  let end = text.length;
  while (end > 0 && LONE.test(text[end - 1] as string)) end--;
  return text.slice(0, end).replace(HEAD, '');
};

/** Python's `bool(v)`. */
export const isTruthy = (value: ExactJson): boolean => {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return false;
  if (value instanceof NumberText) return Number(value.text) !== 0;
  if (typeof value !== 'object') return true;
  return isExactList(value) ? value.length > 0 : Object.keys(value).length > 0;
};

/** Python's `str(v)`: a text as it is, anything else as `repr` writes it. */
export const pythonStr = (value: ExactJson): string => (typeof value === 'string' ? value : repr(value));

const repr = (value: ExactJson): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return reprText(value);
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberText)
    return numberText(value);
  if (isExactList(value)) return `[${value.map(repr).join(', ')}]`;
  const object = value;
  return `{${keysAsWritten(object)
    .map((key) => `${reprText(key)}: ${repr(object[key] as ExactJson)}`)
    .join(', ')}}`;
};

const SHORT: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
// Not printable to Python: control, format, surrogate, private, unassigned, and separators other than the space.
const ESCAPED = /[\\]|(?! )[\p{C}\p{Z}]/gu;

const reprText = (text: string): string => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(ESCAPED, (point) => SHORT[point] ?? escapePoint(point.codePointAt(0) ?? 0));
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
};

const escapePoint = (point: number): string => {
  const hex = point.toString(16);
  if (point <= 0xff) return '\\x' + hex.padStart(2, '0');
  return point <= 0xffff ? '\\u' + hex.padStart(4, '0') : '\\U' + hex.padStart(8, '0');
};
