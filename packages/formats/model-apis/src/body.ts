import { isJsonObject, parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError, type ErrorCode } from '@stemma/errors';

/** Why a body cannot be read: a stable code, and a sentence for people. */
export type UnreadableBody = { readonly ok: false; readonly code: ErrorCode; readonly reason: string };

/** So many bytes may a body have; the APIs take far less. */
const MAX_BODY = 256 * 1024 * 1024;

/** What `read` returns, or why it failed: nothing is thrown. */
export const guarded = <T>(read: () => T): T | UnreadableBody => {
  try {
    return read();
  } catch (error) {
    if (isStemmaError(error)) return { ok: false, code: error.code, reason: error.message };
    return { ok: false, code: 'E_INTERNAL', reason: `it cannot be read: ${String(error).slice(0, 200)}` };
  }
};

/** The text of bytes, without a byte order mark. @throws E_INPUT_ENCODING, E_INPUT_TOO_LARGE */
export const decodeText = (bytes: Uint8Array, what: string): string => {
  if (bytes.length > MAX_BODY)
    throw fail('E_INPUT_TOO_LARGE', `${what} has ${bytes.length} bytes; at most ${MAX_BODY} are read`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fail('E_INPUT_ENCODING', `${what} is not UTF-8`);
  }
};

/** A pair of surrogates, a surrogate alone, or any other escape of a JSON text. */
const ESCAPES =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\[^]/g;

const LONE_SURROGATE = /^\\u[dD][89a-fA-F][0-9a-fA-F]{2}$/;

/** A key that no object of a record may have; a quotation mark behind a backslash is part of a text. */
const UNRECORDABLE_KEY = /(?<!\\)"(__proto__|constructor|prototype)"(?=\s*:)/g;

/** What stands where something was that no record can hold. */
const MARK = '\\ufffd';

/**
 * The value of a JSON text, in which half of a surrogate pair becomes U+FFFD, and a key that no record may hold (record §1) has that
 * behind it: models are sent, and send, both. The bytes keep them.
 *
 * @throws what `parseWideJson` does, but for E_INPUT_SURROGATE; E_INPUT_FORBIDDEN_KEY only for a key that is written with escapes
 */
export const wellFormedJson = (text: string, what: string): WideJson => {
  try {
    return parseWideJson(text, what);
  } catch (error) {
    if (!isStemmaError(error, 'E_INPUT_SURROGATE') && !isStemmaError(error, 'E_INPUT_FORBIDDEN_KEY'))
      throw error;
    const mended = text
      .replace(ESCAPES, (escape) => (LONE_SURROGATE.test(escape) ? MARK : escape))
      .replace(UNRECORDABLE_KEY, `"$1${MARK}"`);
    return parseWideJson(mended, what);
  }
};

/** The value as it can be recorded: an integer beyond ±(2^53−1) becomes the nearest float (record §1). */
export const recordable = <T extends WideJson>(value: T): T =>
  holdsBigint(value) ? (withoutBigints(value) as T) : value;

const withoutBigints = (value: WideJson): WideJson => {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(withoutBigints);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutBigints(item)]));
};

const holdsBigint = (value: WideJson): boolean =>
  typeof value === 'bigint' ||
  (typeof value === 'object' &&
    value !== null &&
    (Object.values(value) as readonly WideJson[]).some(holdsBigint));

/** The JSON object that the bytes hold. @throws what {@link decodeText} and {@link wellFormedJson} do, E_INPUT_SHAPE */
export const objectIn = (bytes: Uint8Array, what: string): WideJsonObject => {
  const value = wellFormedJson(decodeText(bytes, what), what);
  if (!isJsonObject(value)) throw fail('E_INPUT_SHAPE', `${what} is not a JSON object`);
  return value;
};

export const isList = (value: WideJson | undefined): value is readonly WideJson[] => Array.isArray(value);

/** The text, or null for anything else. */
export const textOrNull = (value: WideJson | undefined): string | null =>
  typeof value === 'string' ? value : null;

/** The object, or one without fields for anything else. */
export const objectOrEmpty = (value: WideJson | undefined): WideJsonObject =>
  isJsonObject(value) ? value : {};

/** The fields as the value of one field, and nothing if there are none. */
export const fieldsUnder = (name: string, fields: WideJsonObject): WideJsonObject =>
  Object.keys(fields).length === 0 ? {} : { [name]: fields };

export const hasAny = (object: WideJsonObject, names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(object, name));
