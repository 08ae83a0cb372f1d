import { parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { type Field, timeOf } from './fields.ts';

/** The text, or null for anything else. */
export const textIn = (value: Field): string | null => (typeof value === 'string' ? value : null);

/** The text, or null for an empty one and for anything else. */
export const wordIn = (value: Field): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;

/** The first value that is there, and is not null. */
export const firstOf = (...values: readonly Field[]): Field =>
  values.find((value) => value !== undefined && value !== null);

/** A count: an integer from 0 on, also as a float (`12.0`) or as a text of digits; null for anything else. */
export const countIn = (value: Field): number | null => {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
};

/** The value of a JSON text; undefined for a text that is none. */
const jsonIn = (text: string): Field => {
  try {
    return parseWideJson(text, 'the text');
  } catch (error) {
    if (isStemmaError(error)) return undefined;
    throw error;
  }
};

/** The value of a text that is a JSON object or list; any other value as it stands. */
export const parsedIn = (value: Field): Field => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  return jsonIn(value) ?? value;
};

/** The object without the fields that are null. */
export const withoutNulls = (value: WideJsonObject): WideJsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null));

/** The latest time that is taken for one: the year 2286. Above it a number counts smaller units. */
const LATEST = 1e10;

/**
 * Milliseconds since 1970 of an ISO date (one without a zone is UTC), or of a number of seconds, milliseconds, micro- or
 * nanoseconds, as its size says; null for anything else.
 */
export const timeIn = (value: Field): number | null => {
  if (typeof value === 'string')
    return /^\d+(\.\d+)?$/.test(value)
      ? ofNumber(Number(value))
      : (timeOf(value.replace(/ ?UTC$/, 'Z')) ?? null);
  if (typeof value === 'bigint') return ofNumber(Number(value));
  return typeof value === 'number' ? ofNumber(value) : null;
};

const ofNumber = (value: number): number | null => {
  if (!Number.isFinite(value) || value <= 0) return null;
  if (value < LATEST) return Math.floor(value * 1e3);
  if (value < LATEST * 1e3) return Math.floor(value);
  if (value < LATEST * 1e6) return Math.floor(value / 1e3);
  return value < LATEST * 1e9 ? Math.floor(value / 1e6) : null;
};

/** Whole milliseconds between two times; null if one is not known or the clock went back. */
export const spanOf = (from: number | null, to: number | null): number | null =>
  from === null || to === null || to < from ? null : Math.round(to - from);

/** About how many characters a value takes, without the names in it. */
export const sizeOf = (value: WideJson): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 0;
  for (const item of Object.values(value) as readonly WideJson[]) size += sizeOf(item);
  return size;
};
