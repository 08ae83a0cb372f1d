import { latin1Bytes, type WideJson } from '@stemma/canonical';

export { listOf, objectOf, textOf } from '@stemma/canonical';

/** A value of a file, or none. */
export type Field = WideJson | undefined;

export const isList = (value: Field): value is readonly WideJson[] => Array.isArray(value);

/** The text, if it has a character. */
export const nonEmpty = (value: Field): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** A count: an integer from 0 that is exact; null for anything else. */
export const countOf = (value: Field): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * A time as milliseconds since 1970: `2026-09-01T10:00:00.5Z` (without an offset it is UTC), `Tue, 01 Sep 2026 10:00:00 GMT`. Undefined:
 * it is none, or before 1970.
 */
export const timeOf = (value: Field): number | undefined => {
  if (typeof value !== 'string') return undefined;
  const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d:?\d\d)?$/.exec(value);
  if (iso !== null) {
    const [, date = '', clock = '', fraction = '', offset = 'Z'] = iso;
    const zone = offset === 'Z' || offset.includes(':') ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`;
    return validTime(Date.parse(`${date}T${clock}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}`));
  }
  const [, day = '', name = '', year = '', clock = ''] =
    /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) (?:GMT|UTC)$/.exec(value) ?? [];
  const month = MONTHS.indexOf(name) + 1;
  return month === 0
    ? undefined
    : validTime(Date.parse(`${year}-${String(month).padStart(2, '0')}-${day}T${clock}.000Z`));
};

const validTime = (at: number): number | undefined => (Number.isSafeInteger(at) && at >= 0 ? at : undefined);

/** A time in seconds since 1970 as milliseconds. */
export const timeOfSeconds = (value: Field): number | undefined =>
  typeof value === 'number' && value >= 0 ? validTime(Math.round(value * 1000)) : undefined;

/** A length of time in milliseconds, rounded; null: it is none. */
export const durationOf = (value: Field): number | null =>
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.round(value) : null;

/** The bytes of a text in base64, with or without white space; undefined: it is none. */
export const bytesOfBase64 = (text: string): Uint8Array | undefined => {
  try {
    return latin1Bytes(atob(text));
  } catch {
    return undefined;
  }
};
