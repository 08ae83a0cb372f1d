import type { RawEvent } from './upcast.ts';

export const isText = (value: unknown): boolean => typeof value === 'string';
export const isId = (value: unknown): boolean => typeof value === 'string' && value !== '';
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
export const isCountOrNull = (value: unknown): boolean => value === null || isCount(value);
export const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string';

/** True if the map has this number of keys. The caller has checked as many required keys, so there are no others. */
export const hasKeys = (map: object, count: number): boolean => {
  for (const _ in map) if (--count < 0) return false;
  return count === 0;
};

export const isHash = (value: unknown): boolean => value instanceof Uint8Array && value.length === 32;

export const isMap = (value: unknown): value is RawEvent =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
