import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';

/** A value of a file, or none. */
export type Field = WideJson | undefined;

export const isList = (value: Field): value is readonly WideJson[] => Array.isArray(value);

/** The object, or one without fields. */
export const objectOf = (value: Field): WideJsonObject => (isJsonObject(value) ? value : {});

/** The items of a list; none for anything else. */
export const listOf = (value: Field): readonly WideJson[] => (isList(value) ? value : []);

/** The text; undefined for anything else. */
export const textOf = (value: Field): string | undefined => (typeof value === 'string' ? value : undefined);

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
