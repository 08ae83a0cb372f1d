import { fail } from '@stemma/errors';
import { MAX_DEPTH } from './json-value.ts';

/** How a text is read: what becomes of its numbers, and who is told of the order of keys. */
export type JsonReading = {
  /** Names the text in messages ("line 3", "the file"). */
  readonly what: string;
  /** The value of a number as it is written. */
  readonly number: (source: string) => unknown;
  /** Told of objects with keys that JavaScript may put in another order, such as "10": the keys as the text has them. */
  readonly keyOrder?: (object: object, keys: readonly string[]) => void;
};

/**
 * The value of a JSON text, read without `JSON.parse`: any key and lone surrogates are kept, of a repeated key the last
 * value counts. Linear in the text, nested at most 512 deep.
 *
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED, E_INPUT_TOO_DEEP, and what `number` throws.
 */
export const readJson = (text: string, reading: JsonReading): unknown => {
  const reader: Reader = { ...reading, text, at: 0 };
  const value = readValue(reader, 0);
  skipSpace(reader);
  if (reader.at !== text.length) throw wrong(reader);
  return value;
};

/**
 * True if the text may have a key that is a single escape. `JSON.parse` of V8 13.6 (Node 24) reads such texts wrongly:
 * behind an object with the keys "a" and "\n", the second key of {"a":1,"\"":2} comes out as a backslash. The check may
 * go when V8 is right.
 */
export const hasEscapedKey = (text: string): boolean => /"\\(?:u[\da-fA-F]{4}|[^u])"[ \t\n\r]*:/.test(text);

/** Where a text that began before `from` ends: at a quote behind an even number of backslashes; else at the very end. */
export const endOfText = (text: string, from: number): number => {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote;
  }
  return text.length;
};

type Reader = JsonReading & { readonly text: string; at: number };

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const readValue = (reader: Reader, depth: number): unknown => {
  skipSpace(reader);
  switch (reader.text.charCodeAt(reader.at)) {
    case 0x7b:
      return readObject(reader, deeper(reader, depth));
    case 0x5b:
      return readList(reader, deeper(reader, depth));
    case 0x22:
      return readText(reader);
    case 0x74:
      return readWord(reader, 'true', true);
    case 0x66:
      return readWord(reader, 'false', false);
    case 0x6e:
      return readWord(reader, 'null', null);
    default:
      return readNumber(reader);
  }
};

const deeper = (reader: Reader, depth: number): number => {
  if (depth >= MAX_DEPTH)
    throw fail('E_INPUT_TOO_DEEP', `${reader.what} nests values more than ${MAX_DEPTH} deep`, {
      at: reader.at,
    });
  return depth + 1;
};

const readObject = (reader: Reader, depth: number): unknown => {
  const object: Record<string, unknown> = {};
  let order: Set<string> | null = null;
  reader.at++;
  if (take(reader, 0x7d)) return object;
  do {
    skipSpace(reader);
    if (reader.text.charCodeAt(reader.at) !== 0x22) throw wrong(reader);
    const key = readText(reader);
    if (!take(reader, 0x3a)) throw wrong(reader);
    const value = readValue(reader, depth);
    if (order === null && reader.keyOrder !== undefined && beginsWithDigit(key))
      order = new Set(Object.keys(object));
    order?.add(key);
    if (key === '__proto__') define(object, key, value);
    else object[key] = value;
  } while (take(reader, 0x2c));
  if (!take(reader, 0x7d)) throw wrong(reader);
  if (order !== null) reader.keyOrder?.(object, [...order]);
  return object;
};

const beginsWithDigit = (key: string): boolean => {
  const unit = key.charCodeAt(0);
  return unit >= 0x30 && unit <= 0x39;
};

/** A key of the object's own, where plain assignment would set its prototype. */
const define = (object: object, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
};

const readList = (reader: Reader, depth: number): unknown => {
  const list: unknown[] = [];
  reader.at++;
  if (take(reader, 0x5d)) return list;
  do list.push(readValue(reader, depth));
  while (take(reader, 0x2c));
  if (!take(reader, 0x5d)) throw wrong(reader);
  return list;
};

const readText = (reader: Reader): string => {
  const { text } = reader;
  const start = reader.at + 1;
  const end = endOfText(text, start);
  if (end === text.length) throw truncated(reader);
  reader.at = end + 1;
  const inner = text.slice(start, end);
  if (/[\u0000-\u001f]/.test(inner)) throw wrong({ ...reader, at: start });
  if (!inner.includes('\\')) return inner;
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    throw wrong({ ...reader, at: start });
  }
};

const readWord = (reader: Reader, word: string, value: boolean | null): unknown => {
  if (!reader.text.startsWith(word, reader.at)) throw wrong(reader);
  reader.at += word.length;
  return value;
};

const readNumber = (reader: Reader): unknown => {
  NUMBER.lastIndex = reader.at;
  const token = NUMBER.exec(reader.text)?.[0];
  if (token === undefined) throw wrong(reader);
  reader.at += token.length;
  return reader.number(token);
};

const skipSpace = (reader: Reader): void => {
  for (;;) {
    const unit = reader.text.charCodeAt(reader.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    reader.at++;
  }
};

const take = (reader: Reader, unit: number): boolean => {
  skipSpace(reader);
  if (reader.text.charCodeAt(reader.at) !== unit) return false;
  reader.at++;
  return true;
};

const wrong = (reader: Reader): Error =>
  reader.at >= reader.text.length
    ? truncated(reader)
    : fail('E_INPUT_NOT_JSON', `${reader.what} is not JSON at character ${reader.at}`, { at: reader.at });

const truncated = ({ text, what }: Reader): Error =>
  fail('E_INPUT_TRUNCATED', `${what} ends in the middle of a value`, { at: text.length });
