import { MAX_PACKED_DEPTH } from './pack.ts';
import { fail } from '@stemma/errors';

/**
 * A copy of plain data that shares nothing with it but texts: what its owner does to the data later changes no copy. Anything else
 * (dates, instances of classes) stays what it is, and is refused where it would be recorded.
 *
 * @throws E_INPUT_TOO_DEEP
 */
export const ownCopy = <T>(value: T): T => copyOf(value, 0) as T;

const copyOf = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_PACKED_DEPTH)
    throw fail('E_INPUT_TOO_DEEP', `values are nested more than ${MAX_PACKED_DEPTH} deep`);
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1));
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) {
    const field = copy[name];
    if (typeof field === 'object' && field !== null) copy[name] = copyOf(field, depth + 1);
  }
  return copy;
};
