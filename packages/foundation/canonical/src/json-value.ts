/** A value of our own trees: JSON without integers beyond ±(2^53−1), NaN, infinities or unpaired surrogates. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

/** JSON that may hold exact integers of any size: headers such as `created_at_ns`. */
export type WideJson = null | boolean | number | bigint | string | readonly WideJson[] | WideJsonObject;

export type WideJsonObject = { readonly [key: string]: WideJson };

/** The greatest depth of a value; deeper ones are refused before anything is built. */
export const MAX_DEPTH = 512;

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** True for the three keys that no object may have, here or in any record. */
export const isForbiddenKey = (key: string): boolean => FORBIDDEN.has(key);

/** True for a JSON object: not null, not a list. */
export const isJsonObject = (value: unknown): value is WideJsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
