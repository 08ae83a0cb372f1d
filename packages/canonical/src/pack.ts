import { Encoder, ExtData } from '@msgpack/msgpack';
import { fail } from '@stemma/errors';
import { compareCodePoints } from './compare.ts';
import { fromHex } from './hash.ts';
import { isForbiddenKey } from './json-value.ts';

/** A value in the contents store: msgpack extension 1 = [32 bytes, length] (record §4). */
export class ContentRef {
  /** Lower-case hex of the SHA-256 of the value's canonical msgpack. */
  readonly sha256: string;
  /** Bytes of the value's canonical msgpack. */
  readonly size: number;
  constructor(sha256: string, size: number) {
    this.sha256 = sha256;
    this.size = size;
  }
}

export type Packable =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | ContentRef
  | readonly Packable[]
  | { readonly [key: string]: Packable };

export const CONTENT_REF_TYPE = 1;

/** The greatest depth of a value in a record: a content of the greatest depth, and the values around it. */
export const MAX_PACKED_DEPTH = 540;

// The library also counts the values that hold nothing.
const encoder = new Encoder({ useBigInt64: true, maxDepth: MAX_PACKED_DEPTH + 2 });

/**
 * The canonical msgpack of a value: keys by code point, shortest forms, no float where a safe integer has the same
 * value (record §1). The bytes are the caller's own.
 *
 * @throws E_INPUT_SURROGATE, E_INPUT_FORBIDDEN_KEY, E_INPUT_NUMBER (NaN, infinities, bigints beyond 64 bits),
 *   E_INPUT_SHAPE (undefined, functions, Map and other classes), E_INPUT_TOO_DEEP.
 */
export const pack = (value: Packable): Uint8Array => encoder.encode(prepare(value, 0));

/** The value that makes the library write the canonical form: `value` itself if it is already canonical. */
const prepare = (value: Packable, depth: number): unknown => {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a text holds an unpaired surrogate');
      return value;
    case 'number':
      return prepareNumber(value);
    case 'bigint':
      return prepareBigint(value);
    case 'boolean':
      return value;
    case 'object':
      if (value === null || value instanceof Uint8Array) return value;
      if (value instanceof ContentRef) return prepareRef(value);
      if (depth === MAX_PACKED_DEPTH)
        throw fail('E_INPUT_TOO_DEEP', `values are nested more than ${depth} deep`);
      return Array.isArray(value)
        ? prepareList(value as readonly Packable[], depth + 1)
        : prepareMap(value as Record<string, Packable>, depth + 1);
    default:
      throw fail('E_INPUT_SHAPE', `a ${typeof value} cannot be recorded`);
  }
};

// With useBigInt64 the library writes numbers of 2^32 and more as floats, so they are handed over as bigints.
const prepareNumber = (value: number): number | bigint => {
  if (Number.isSafeInteger(value))
    return value >= 0x1_0000_0000 || value < -0x8000_0000 ? BigInt(value) : value;
  if (!Number.isFinite(value)) throw fail('E_INPUT_NUMBER', `${String(value)} cannot be recorded`);
  return value;
};

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

const prepareBigint = (value: bigint): number | bigint => {
  if (value < MIN_INT64 || value > MAX_UINT64)
    throw fail('E_INPUT_NUMBER', `${value.toString()} has more than 64 bits`);
  const safe = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
  return safe ? prepareNumber(Number(value)) : value;
};

const refEncoder = new Encoder({ useBigInt64: true });

const prepareRef = (ref: ContentRef): ExtData =>
  new ExtData(CONTENT_REF_TYPE, refEncoder.encode([fromHex(ref.sha256), prepareNumber(ref.size)]));

const prepareList = (list: readonly Packable[], depth: number): readonly unknown[] => {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item = prepare(list[i] as Packable, depth);
    if (copy !== undefined) copy.push(item);
    else if (item !== list[i]) copy = [...list.slice(0, i), item];
  }
  return copy ?? list;
};

const prepareMap = (map: Record<string, Packable>, depth: number): object => {
  const prototype: unknown = Object.getPrototypeOf(map);
  if (prototype !== Object.prototype && prototype !== null)
    throw fail('E_INPUT_SHAPE', 'only plain objects can be recorded');
  const keys = Object.keys(map);
  for (const key of keys) refuseKey(key);
  if (!inOrder(keys)) return sortedCopy(map, keys.sort(compareCodePoints), depth);
  let copy: Record<string, unknown> | undefined;
  for (const key of keys) {
    const item = prepare(map[key] as Packable, depth);
    if (item === map[key]) continue;
    copy ??= { ...map };
    copy[key] = item;
  }
  return copy ?? map;
};

const refuseKey = (key: string): void => {
  if (isForbiddenKey(key)) throw fail('E_INPUT_FORBIDDEN_KEY', `an object has the forbidden key ${key}`);
  if (!key.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a key holds an unpaired surrogate');
};

const inOrder = (keys: readonly string[]): boolean => {
  for (let i = 1; i < keys.length; i++)
    if (compareCodePoints(keys[i - 1] as string, keys[i] as string) > 0) return false;
  return true;
};

const sortedCopy = (map: Record<string, Packable>, keys: readonly string[], depth: number): object => {
  const sorted: Record<string, unknown> = {};
  for (const key of keys) sorted[key] = prepare(map[key] as Packable, depth);
  return integerKeysInOrder(sorted, keys);
};

/**
 * JavaScript lists keys that look like array indexes first and in numeric order, however they were set ("9" before
 * "10"). The library asks an object for its keys, so in this rare case it is given a proxy that answers in order.
 */
const integerKeysInOrder = (sorted: Record<string, unknown>, keys: readonly string[]): object => {
  const own = Object.keys(sorted);
  if (own.every((key, i) => key === keys[i])) return sorted;
  return new Proxy(sorted, { ownKeys: () => [...keys] });
};
