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

/** The JSON object that the bytes hold. @throws what {@link decodeText} and `parseWideJson` do, E_INPUT_SHAPE */
export const objectIn = (bytes: Uint8Array, what: string): WideJsonObject => {
  const value = parseWideJson(decodeText(bytes, what), what);
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

/** The value, in which no integer is beyond ±(2^53−1): no content may hold one. @throws E_INPUT_NUMBER */
export const recordable = <T extends WideJson>(value: T, what: string): T => {
  if (typeof value === 'bigint')
    throw fail('E_INPUT_NUMBER', `${what} holds an integer beyond ±(2^53−1) in a message`);
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value) as readonly WideJson[]) recordable(item, what);
  return value;
};
