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

/**
 * The canonical msgpack of a value: keys by code point, shortest forms, no float where a safe integer has the same
 * value (record §1). The bytes are the caller's own.
 *
 * @throws E_INPUT_SURROGATE, E_INPUT_FORBIDDEN_KEY, E_INPUT_NUMBER (NaN, infinities, bigints beyond 64 bits),
 *   E_INPUT_SHAPE (undefined, functions, Map and other classes), E_INPUT_TOO_DEEP.
 */
export const pack = (value: Packable): Uint8Array => {
  // A getter of an object that is packed could pack another one: that is written elsewhere.
  const writer = idle ?? new Writer();
  idle = undefined;
  try {
    return writer.bytesOf(value);
  } finally {
    idle = writer;
  }
};

/** `utf8Write` is what `write` comes to, without the way there; the types of Node leave it out. */
type WritableBytes = Buffer & { utf8Write(text: string, at: number, length: number): number };

const allocate = (size: number): WritableBytes => Buffer.allocUnsafeSlow(size) as WritableBytes;

const SMALLEST = 16 * 1024;
/** A larger buffer is not kept for the next value. */
const LARGEST_KEPT = 1024 * 1024;
/** Texts up to this length are written byte by byte, which is faster than a call into the engine. */
const SHORT = 24;

class Writer {
  #bytes = allocate(SMALLEST);
  #at = 0;

  bytesOf(value: Packable): Uint8Array {
    this.#at = 0;
    try {
      this.#write(value, 0);
      return new Uint8Array(this.#bytes.subarray(0, this.#at));
    } finally {
      if (this.#bytes.length > LARGEST_KEPT) this.#bytes = allocate(SMALLEST);
    }
  }

  /** Makes room for so many bytes more. */
  #room(size: number): void {
    const needed = this.#at + size;
    if (needed <= this.#bytes.length) return;
    const larger = allocate(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }

  #write(value: Packable, depth: number): void {
    switch (typeof value) {
      case 'string':
        if (!value.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a text holds an unpaired surrogate');
        this.#text(value);
        return;
      case 'number':
        this.#number(value);
        return;
      case 'bigint':
        this.#bigint(value);
        return;
      case 'boolean':
        this.#byte(value ? 0xc3 : 0xc2);
        return;
      case 'object':
        if (value === null) this.#byte(0xc0);
        else if (value instanceof Uint8Array) this.#binary(value);
        else if (value instanceof ContentRef) this.#ref(value);
        else if (depth === MAX_PACKED_DEPTH)
          throw fail('E_INPUT_TOO_DEEP', `values are nested more than ${depth} deep`);
        else if (Array.isArray(value)) this.#list(value as readonly Packable[], depth + 1);
        else this.#map(value as Record<string, Packable>, depth + 1);
        return;
      default:
        throw fail('E_INPUT_SHAPE', `a ${typeof value} cannot be recorded`);
    }
  }

  #byte(byte: number): void {
    this.#room(1);
    this.#bytes[this.#at++] = byte;
  }

  /** The head of a value whose length has its own form below `few`, and then one, two or four bytes. */
  #head(length: number, few: number, fixed: number, one: number, two: number): void {
    this.#room(5);
    const bytes = this.#bytes;
    if (length < few) bytes[this.#at++] = fixed | length;
    else if (one !== 0 && length < 0x100) {
      bytes[this.#at++] = one;
      bytes[this.#at++] = length;
    } else if (length < 0x1_0000) {
      bytes[this.#at++] = two;
      this.#at = bytes.writeUInt16BE(length, this.#at);
    } else {
      bytes[this.#at++] = two + 1;
      this.#at = bytes.writeUInt32BE(length, this.#at);
    }
  }

  #text(text: string): void {
    const { length } = text;
    if (length <= SHORT) {
      this.#room(length + 2);
      const bytes = this.#bytes;
      const start = this.#at;
      let at = start;
      if (length < 32) bytes[at++] = 0xa0 | length;
      let i = 0;
      for (; i < length; i++) {
        const unit = text.charCodeAt(i);
        if (unit >= 0x80) break;
        bytes[at++] = unit;
      }
      if (i === length) {
        this.#at = at;
        return;
      }
    }
    const size = Buffer.byteLength(text);
    this.#head(size, 32, 0xa0, 0xd9, 0xda);
    this.#room(size);
    this.#at += this.#bytes.utf8Write(text, this.#at, size);
  }

  #number(value: number): void {
    if (Number.isSafeInteger(value)) this.#integer(value);
    else if (Number.isFinite(value)) {
      this.#byte(0xcb);
      this.#room(8);
      this.#at = this.#bytes.writeDoubleBE(value, this.#at);
    } else throw fail('E_INPUT_NUMBER', `${String(value)} cannot be recorded`);
  }

  #integer(value: number): void {
    this.#room(9);
    const bytes = this.#bytes;
    if (value >= 0) {
      if (value < 0x80) bytes[this.#at++] = value;
      else if (value < 0x100) {
        bytes[this.#at++] = 0xcc;
        bytes[this.#at++] = value;
      } else if (value < 0x1_0000) {
        bytes[this.#at++] = 0xcd;
        this.#at = bytes.writeUInt16BE(value, this.#at);
      } else if (value < 0x1_0000_0000) {
        bytes[this.#at++] = 0xce;
        this.#at = bytes.writeUInt32BE(value, this.#at);
      } else this.#integer64(BigInt(value));
    } else if (value >= -0x20) bytes[this.#at++] = 0x100 + value;
    else if (value >= -0x80) {
      bytes[this.#at++] = 0xd0;
      bytes[this.#at++] = 0x100 + value;
    } else if (value >= -0x8000) {
      bytes[this.#at++] = 0xd1;
      this.#at = bytes.writeInt16BE(value, this.#at);
    } else if (value >= -0x8000_0000) {
      bytes[this.#at++] = 0xd2;
      this.#at = bytes.writeInt32BE(value, this.#at);
    } else this.#integer64(BigInt(value));
  }

  #bigint(value: bigint): void {
    if (value < MIN_INT64 || value > MAX_UINT64)
      throw fail('E_INPUT_NUMBER', `${value.toString()} has more than 64 bits`);
    const safe = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
    if (safe) this.#integer(Number(value));
    else this.#integer64(value);
  }

  #integer64(value: bigint): void {
    this.#byte(value >= 0n ? 0xcf : 0xd3);
    this.#room(8);
    this.#at =
      value >= 0n
        ? this.#bytes.writeBigUInt64BE(value, this.#at)
        : this.#bytes.writeBigInt64BE(value, this.#at);
  }

  #binary(value: Uint8Array): void {
    this.#head(value.length, 0, 0, 0xc4, 0xc5);
    this.#room(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  #ref({ sha256, size }: ContentRef): void {
    // Its length is not known before it is written: a hash of 32 bytes and a length have more than 16 bytes, and few.
    this.#room(3);
    const start = this.#at;
    this.#at += 3;
    this.#byte(0x92);
    this.#binary(fromHex(sha256));
    this.#integer(size);
    const length = this.#at - start - 3;
    if (length <= 16 || length >= 0x100 || !Number.isSafeInteger(size))
      throw fail('E_INPUT_SHAPE', 'a reference to a content has a SHA-256 and a length');
    this.#bytes[start] = 0xc7;
    this.#bytes[start + 1] = length;
    this.#bytes[start + 2] = CONTENT_REF_TYPE;
  }

  #list(list: readonly Packable[], depth: number): void {
    this.#head(list.length, 16, 0x90, 0, 0xdc);
    for (let i = 0; i < list.length; i++) this.#write(list[i] as Packable, depth);
  }

  #map(map: Record<string, Packable>, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(map);
    if (prototype !== Object.prototype && prototype !== null)
      throw fail('E_INPUT_SHAPE', 'only plain objects can be recorded');
    const keys = Object.keys(map);
    for (const key of keys) refuseKey(key);
    this.#head(keys.length, 16, 0x80, 0, 0xde);
    if (!inOrder(keys)) keys.sort(compareCodePoints);
    for (const key of keys) {
      this.#text(key);
      this.#write(map[key] as Packable, depth);
    }
  }
}

let idle: Writer | undefined;

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

const refuseKey = (key: string): void => {
  if (isForbiddenKey(key)) throw fail('E_INPUT_FORBIDDEN_KEY', `an object has the forbidden key ${key}`);
  if (!key.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a key holds an unpaired surrogate');
};

const inOrder = (keys: readonly string[]): boolean => {
  for (let i = 1; i < keys.length; i++)
    if (compareCodePoints(keys[i - 1] as string, keys[i] as string) > 0) return false;
  return true;
};
