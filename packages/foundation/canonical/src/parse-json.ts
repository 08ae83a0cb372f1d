import { fail } from '@stemma/errors';
import { openJsonReader, type JsonReader } from './json-reader.ts';
import { notJson, repeatedKey, truncated } from './json-reading.ts';
import { isForbiddenKey, type Json, type WideJson } from './json-value.ts';
import { readJson } from './read-json.ts';
import { scanJson } from './scan-json.ts';

/**
 * The exact value of an untrusted JSON text, or a coded error. Integers beyond ±(2^53−1) written in digits are refused;
 * numbers with a point or an exponent are floats. The depth is checked before anything is built.
 *
 * @param what names the text in messages ("line 3", "the file").
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED, E_INPUT_TOO_DEEP, E_INPUT_TOO_LARGE, E_INPUT_NUMBER,
 *   E_INPUT_REPEATED_KEY, E_INPUT_FORBIDDEN_KEY, E_INPUT_SURROGATE.
 */
export const parseJson = (text: string, what = 'the text'): Json => parse(text, what, false) as Json;

/** As {@link parseJson}, but integers are kept exactly: those beyond ±(2^53−1) as `bigint`. */
export const parseWideJson = (text: string, what = 'the text'): WideJson => parse(text, what, true);

/**
 * As {@link parseWideJson}, for a text that comes in pieces: what is wrong with it shows with the piece.
 *
 * @param takesItem takes the items of a list one by one, if it returns true
 */
export const openWideJsonReader = (what: string, takesItem?: (item: WideJson) => boolean): JsonReader =>
  openJsonReader({
    ...refusing(what, true),
    ...(takesItem && { takesItem: (item) => takesItem(item as WideJson) }),
  });

/** Longer texts may hold more values than memory does, so they are read by the reader that counts. */
const MAX_PLAIN = 1024 * 1024;

const parse = (text: string, what: string, wide: boolean): WideJson => {
  if (text.length > MAX_PLAIN) return readJson(text, refusing(what, wide)) as WideJson;
  const { keys, escapedKey } = scanJson(text, what);
  if (escapedKey) return readJson(text, refusing(what, wide)) as WideJson;
  const value = parsePlainly(text, what, wide);
  const mayRefuse = /\\u|__proto__|constructor|prototype/.test(text) || !text.isWellFormed();
  const found = mayRefuse ? checkContent(value, what) : countKeys(value);
  // JSON.parse keeps the last of two values in silence, so the values have fewer keys than the text.
  return found === keys ? value : (readJson(text, refusing(what, wide)) as WideJson);
};

const refusing = (what: string, wide: boolean): Parameters<typeof readJson>[1] => ({
  what,
  onRepeatedKey: (key, at) => {
    throw repeatedKey(what, key, at);
  },
  anyText: false,
  number: (source) => exactNumber(what, wide, Number(source), source),
});

// Sixteen digits in a row or an exponent: the only texts whose numbers JSON.parse could round or overflow.
const RISKY_NUMBER = /\d{16}|\d[eE]/;

const parsePlainly = (text: string, what: string, wide: boolean): WideJson => {
  try {
    if (!RISKY_NUMBER.test(text)) return JSON.parse(text) as WideJson;
    return JSON.parse(text, ((_key: string, value: unknown, context: { readonly source: string }) =>
      typeof value === 'number' ? exactNumber(what, wide, value, context.source) : value) as (
      key: string,
      value: unknown,
    ) => unknown) as WideJson;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (/end of JSON|Unterminated/.test(error.message)) throw truncated(what, text.length);
    const at = /position (\d+)/.exec(error.message)?.[1];
    // A mark that is expected where the text ends.
    if (Number(at) === text.length) throw truncated(what, text.length);
    throw at === undefined ? fail('E_INPUT_NOT_JSON', `${what} is not JSON`) : notJson(what, Number(at));
  }
};

const exactNumber = (what: string, wide: boolean, value: number, source: string): unknown => {
  if (Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value))
    throw fail('E_INPUT_NUMBER', `${what} holds a number beyond a float: ${excerpt(source)}`);
  if (/[.eE]/.test(source)) return value;
  // It has at most 309 digits: a longer one is beyond a float.
  if (wide) return BigInt(source);
  throw fail('E_INPUT_NUMBER', `${what} holds an integer beyond ±(2^53−1): ${excerpt(source)}`);
};

const excerpt = (source: string): string => (source.length > 40 ? source.slice(0, 40) + '…' : source);

const countKeys = (value: WideJson): number => {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly WideJson[]) if (typeof item === 'object') keys += countKeys(item);
    return keys;
  }
  const object = value as { readonly [key: string]: WideJson };
  for (const key in object) {
    keys++;
    const item = object[key] as WideJson;
    if (typeof item === 'object') keys += countKeys(item);
  }
  return keys;
};

/** Refuses keys and texts that no tree may hold; gives the number of the keys. */
const checkContent = (value: WideJson, what: string): number => {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw fail('E_INPUT_SURROGATE', `${what} holds an unpaired surrogate`);
    return 0;
  }
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly WideJson[]) keys += checkContent(item, what);
    return keys;
  }
  for (const [key, item] of Object.entries(value)) {
    if (isForbiddenKey(key))
      throw fail('E_INPUT_FORBIDDEN_KEY', `${what} holds an object with the key ${key}`);
    keys += 1 + checkContent(key, what) + checkContent(item, what);
  }
  return keys;
};
