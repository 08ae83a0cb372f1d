import { fail } from '@stemma/errors';
import { isForbiddenKey, MAX_DEPTH, type Json, type WideJson } from './json-value.ts';
import { endOfText, hasEscapedKey, readJson } from './read-json.ts';

/**
 * The exact value of an untrusted JSON text, or a coded error. Integers beyond ±(2^53−1) written in digits are refused;
 * numbers with a point or an exponent are floats. The depth is checked before anything is built.
 *
 * @param what names the text in messages ("line 3", "the file").
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED, E_INPUT_TOO_DEEP, E_INPUT_NUMBER, E_INPUT_FORBIDDEN_KEY,
 *   E_INPUT_SURROGATE.
 */
export const parseJson = (text: string, what = 'the text'): Json => parse(text, what, false) as Json;

/** As {@link parseJson}, but integers of any size are kept exactly: those beyond ±(2^53−1) as `bigint`. */
export const parseWideJson = (text: string, what = 'the text'): WideJson => parse(text, what, true);

const parse = (text: string, what: string, wide: boolean): WideJson => {
  refuseDepth(text, what);
  const value = parseExactly(text, what, wide);
  if (/\\u|__proto__|constructor|prototype/.test(text) || !text.isWellFormed()) refuseContent(value, what);
  return value;
};

/** Counts open brackets outside of texts, so that no parser must go deeper than it can. */
const refuseDepth = (text: string, what: string): void => {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x22) {
      i = endOfText(text, i + 1);
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > MAX_DEPTH)
        throw fail('E_INPUT_TOO_DEEP', `${what} nests values more than ${MAX_DEPTH} deep`, { at: i });
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
};

// Sixteen digits in a row or an exponent: the only texts whose numbers JSON.parse could round or overflow.
const RISKY_NUMBER = /\d{16}|\d[eE]/;

const parseExactly = (text: string, what: string, wide: boolean): WideJson => {
  try {
    if (hasEscapedKey(text))
      return readJson(text, {
        what,
        number: (source) => exactNumber(what, wide)('', Number(source), { source }),
      }) as WideJson;
    if (!RISKY_NUMBER.test(text)) return JSON.parse(text) as WideJson;
    return JSON.parse(text, exactNumber(what, wide) as (key: string, value: unknown) => unknown) as WideJson;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw notJson(text, what, error);
  }
};

const exactNumber =
  (what: string, wide: boolean) =>
  (_key: string, value: unknown, context: { readonly source: string }): unknown => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    if (!Number.isFinite(value))
      throw fail('E_INPUT_NUMBER', `${what} holds a number beyond a float: ${excerpt(context.source)}`);
    if (!/^-?\d+$/.test(context.source)) return value;
    if (wide) return BigInt(context.source);
    throw fail('E_INPUT_NUMBER', `${what} holds an integer beyond ±(2^53−1): ${excerpt(context.source)}`);
  };

const notJson = (text: string, what: string, error: SyntaxError): Error => {
  const truncated = /end of JSON|Unterminated/.test(error.message);
  const at = /position (\d+)/.exec(error.message)?.[1];
  const where = at === undefined ? '' : ` at character ${at}`;
  return truncated
    ? fail('E_INPUT_TRUNCATED', `${what} ends in the middle of a value`, { at: text.length })
    : fail('E_INPUT_NOT_JSON', `${what} is not JSON${where}`, at === undefined ? {} : { at: Number(at) });
};

const excerpt = (source: string): string => (source.length > 40 ? source.slice(0, 40) + '…' : source);

/** Refuses keys and texts that no tree may hold. */
const refuseContent = (value: WideJson, what: string): void => {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw fail('E_INPUT_SURROGATE', `${what} holds an unpaired surrogate`);
  } else if (Array.isArray(value)) {
    for (const item of value as readonly WideJson[]) refuseContent(item, what);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      if (isForbiddenKey(key))
        throw fail('E_INPUT_FORBIDDEN_KEY', `${what} holds an object with the key ${key}`);
      refuseContent(key, what);
      refuseContent(item, what);
    }
  }
};
