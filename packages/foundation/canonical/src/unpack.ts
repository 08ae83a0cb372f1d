import { fail } from '@stemma/errors';
import { compareBytes } from './compare.ts';
import { toHex } from './hash.ts';
import { isForbiddenKey } from './json-value.ts';
import { keysInOrder } from './key-order.ts';
import { cachedText, copyBytes, MAX_CACHED, utf8Slice } from './key-cache.ts';
import { CONTENT_REF_TYPE, ContentRef, MAX_PACKED_DEPTH, type Packable } from './pack.ts';

/** The result of {@link unpackFrom}: the value, where it ends, and how many of its parts JSON cannot represent. */
export type Unpacked = {
  readonly value: Packable;
  readonly end: number;
  /** The number of references to contents. */
  readonly refs: number;
  /** The number of byte strings, without those of references. */
  readonly binaries: number;
};

/**
 * The value of canonical msgpack bytes. Strict: bytes that `pack` would not write are refused, so unpack∘pack gives the
 * same bytes. Nothing is allocated for a length that the bytes cannot hold.
 *
 * @throws E_FRAME_INVALID with the byte's offset.
 */
export const unpack = (bytes: Uint8Array): Packable => {
  const { value, end } = unpackFrom(bytes, 0);
  if (end !== bytes.length)
    throw fail('E_FRAME_INVALID', `${bytes.length - end} bytes follow the value`, { at: end });
  return value;
};

/** As {@link unpack}, for the value that begins at `start` of longer bytes. */
export const unpackFrom = (bytes: Uint8Array, start: number): Unpacked => {
  const reader = new Reader(bytes, start);
  const value = reader.read(0);
  return { value, end: reader.at, refs: reader.refs, binaries: reader.binaries };
};

/**
 * How many byte strings are in the bytes from `start` to their end, if {@link unpack} would read just this value there; else
 * undefined. It makes no objects and keeps no texts, so it takes less than to read the value. A value that is written as another
 * one (`-0`, or an integer that a number can hold as a bigint) is not the one that is read, nor is one with references.
 *
 * @throws E_FRAME_INVALID as {@link unpack}.
 */
export const binariesIfRead = (bytes: Uint8Array, start: number, value: Packable): number | undefined => {
  const reader = new Reader(bytes, start);
  return reader.reads(value, 0) && reader.at === bytes.length ? reader.binaries : undefined;
};

/** Reads values that follow one another in bytes, from `at` on. */
export type Unpacker = {
  /** Where the next value begins. */
  at: number;
  /** @throws E_FRAME_INVALID with the byte's offset. */
  next(): Packable;
  /** Passes a value without looking into it. @throws E_FRAME_INVALID if the bytes end before it does. */
  pass(): void;
};

/** As {@link unpackFrom}, for many values in the same bytes. */
export const openUnpacker = (bytes: Uint8Array, start: number): Unpacker => new Reader(bytes, start);

/** They read any bytes, though their types know Buffers only. */
const { readBigInt64BE, readBigUInt64BE, readDoubleBE, readInt16BE, readInt32BE, readInt8 } =
  Buffer.prototype as unknown as {
    readonly [Name in 'readBigInt64BE' | 'readBigUInt64BE']: (this: Uint8Array, at: number) => bigint;
  } & {
    readonly [Name in 'readDoubleBE' | 'readInt16BE' | 'readInt32BE' | 'readInt8']: (
      this: Uint8Array,
      at: number,
    ) => number;
  };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Longer values are ids and contents, which occur once. */
const MOST_COMMON = 18;

class Reader {
  readonly #bytes: Uint8Array;
  at: number;
  refs = 0;
  binaries = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.at = start;
  }

  next(): Packable {
    return this.read(0);
  }

  pass(): void {
    for (let left = 1; left > 0; left--) {
      const head = this.#byte();
      if (head < 0x80 || head >= 0xe0) continue;
      if (head < 0x90) left += (head & 0x0f) * 2;
      else if (head < 0xa0) left += head & 0x0f;
      else if (head < 0xc0) this.#skip(head & 0x1f);
      else left += this.#skipOther(head);
    }
  }

  /** Passes the rest of a value, but for the values in it, and returns their number. */
  #skipOther(head: number): number {
    switch (head) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        return 0;
      case 0xcc:
      case 0xd0:
        this.#skip(1);
        return 0;
      case 0xcd:
      case 0xd1:
        this.#skip(2);
        return 0;
      case 0xce:
      case 0xd2:
        this.#skip(4);
        return 0;
      case 0xcb:
      case 0xcf:
      case 0xd3:
        this.#skip(8);
        return 0;
      case 0xc4:
      case 0xd9:
        this.#skip(this.#uint(1, 0));
        return 0;
      case 0xc5:
      case 0xda:
        this.#skip(this.#uint(2, 0));
        return 0;
      case 0xc6:
      case 0xdb:
        this.#skip(this.#uint(4, 0));
        return 0;
      case 0xc7:
        this.#skip(this.#uint(1, 0) + 1);
        return 0;
      case 0xdc:
        return this.#uint(2, 0);
      case 0xdd:
        return this.#uint(4, 0);
      case 0xde:
        return this.#uint(2, 0) * 2;
      case 0xdf:
        return this.#uint(4, 0) * 2;
      default:
        throw this.#invalid(`the byte 0x${head.toString(16)} begins no value`);
    }
  }

  read(depth: number): Packable {
    const head = this.#byte();
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 0x0f, depth);
    if (head < 0xa0) return this.#list(head & 0x0f, depth);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    return this.#other(head, depth);
  }

  #other(head: number, depth: number): Packable {
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.#binary(this.#uint(1, 0));
      case 0xc5:
        return this.#binary(this.#uint(2, 0x100));
      case 0xc6:
        return this.#binary(this.#uint(4, 0x1_0000));
      case 0xc7:
        return this.#extension(this.#uint(1, 0));
      case 0xcb:
        return this.#float();
      case 0xcc:
        return this.#uint(1, 0x80);
      case 0xcd:
        return this.#uint(2, 0x100);
      case 0xce:
        return this.#uint(4, 0x1_0000);
      case 0xcf:
        return this.#long(readBigUInt64BE.call(this.#bytes, this.#skip(8)));
      case 0xd0:
        return this.#negative(readInt8.call(this.#bytes, this.#skip(1)), -0x20);
      case 0xd1:
        return this.#negative(readInt16BE.call(this.#bytes, this.#skip(2)), -0x80);
      case 0xd2:
        return this.#negative(readInt32BE.call(this.#bytes, this.#skip(4)), -0x8000);
      case 0xd3:
        return this.#negativeLong(readBigInt64BE.call(this.#bytes, this.#skip(8)));
      case 0xd9:
        return this.#text(this.#uint(1, 0x20));
      case 0xda:
        return this.#text(this.#uint(2, 0x100));
      case 0xdb:
        return this.#text(this.#uint(4, 0x1_0000));
      case 0xdc:
        return this.#list(this.#uint(2, 0x10), depth);
      case 0xdd:
        return this.#list(this.#uint(4, 0x1_0000), depth);
      case 0xde:
        return this.#map(this.#uint(2, 0x10), depth);
      case 0xdf:
        return this.#map(this.#uint(4, 0x1_0000), depth);
      default:
        throw this.#invalid(`the byte 0x${head.toString(16)} begins no value`);
    }
  }

  /** True if the next value is this one. After false the rest of it is not read. */
  reads(value: Packable, depth: number): boolean {
    if (typeof value === 'string') return this.#readsText(value);
    if (typeof value !== 'object' || value === null) return Object.is(this.read(depth), value);
    if (value instanceof Uint8Array) {
      const read = this.read(depth);
      return read instanceof Uint8Array && compareBytes(read, value) === 0;
    }
    if (value instanceof ContentRef) return false;
    return Array.isArray(value)
      ? this.#readsList(value as readonly Packable[], depth)
      : this.#readsMap(value as { readonly [key: string]: Packable }, depth);
  }

  #readsList(list: readonly Packable[], depth: number): boolean {
    const count = this.#count(0x90, 0xdc);
    if (count !== list.length) return false;
    this.#refuseList(count, depth);
    for (const value of list) if (!this.reads(value, depth + 1)) return false;
    return true;
  }

  #readsMap(map: { readonly [key: string]: Packable }, depth: number): boolean {
    const count = this.#count(0x80, 0xde);
    // No key of these is forbidden, and a reader takes them in no other order.
    const keys = keysInOrder(map);
    if (count !== keys.length) return false;
    this.#refuseList(count * 2, depth);
    for (const key of keys)
      if (!this.#readsText(key) || !this.reads(map[key] as Packable, depth + 1)) return false;
    return true;
  }

  #readsText(text: string): boolean {
    const head = this.#bytes[this.at] as number;
    if (head === (0xa0 | text.length) && this.#isAscii(text, this.at + 1)) {
      this.at += 1 + text.length;
      return true;
    }
    return this.read(0) === text;
  }

  /** True if these bytes are there, one for each unit; false for a text that is not ASCII. */
  #isAscii(text: string, start: number): boolean {
    const bytes = this.#bytes;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit !== bytes[start + i] || unit >= 0x80) return false;
    }
    return true;
  }

  /** The number of values of the list or map that begins here, of those that {@link pack} writes; undefined for another value. */
  #count(short: 0x80 | 0x90, long: 0xdc | 0xde): number | undefined {
    const head = this.#byte();
    if (head >= short && head < short + 0x10) return head & 0x0f;
    if (head === long) return this.#uint(2, 0x10);
    return head === long + 1 ? this.#uint(4, 0x1_0000) : undefined;
  }

  #list(count: number, depth: number): Packable[] {
    this.#refuseList(count, depth);
    const list: Packable[] = [];
    for (let i = 0; i < count; i++) list.push(this.read(depth + 1));
    return list;
  }

  #map(count: number, depth: number): Record<string, Packable> {
    this.#refuseList(count * 2, depth);
    const map: Record<string, Packable> = {};
    let before = -1;
    let beforeEnd = -1;
    for (let i = 0; i < count; i++) {
      const head = this.#byte();
      const length = this.#textLength(head);
      const start = this.at;
      const key = this.#key(length);
      if (before !== -1 && !this.#ascends(before, beforeEnd, start))
        throw this.#invalid('keys are out of order');
      if (isForbiddenKey(key)) throw this.#invalid(`an object has the forbidden key ${key}`);
      before = start;
      beforeEnd = this.at;
      map[key] = this.read(depth + 1);
    }
    return map;
  }

  #textLength(head: number): number {
    if (head >= 0xa0 && head < 0xc0) return head & 0x1f;
    if (head === 0xd9) return this.#uint(1, 0x20);
    if (head === 0xda) return this.#uint(2, 0x100);
    if (head === 0xdb) return this.#uint(4, 0x1_0000);
    throw this.#invalid('a key is not a text');
  }

  /** True if the key in [a, aEnd) comes before the key that begins at b and ends here, by byte. */
  #ascends(a: number, aEnd: number, b: number): boolean {
    const bytes = this.#bytes;
    const bEnd = this.at;
    for (let i = a, k = b; i < aEnd && k < bEnd; i++, k++) {
      const difference = (bytes[i] as number) - (bytes[k] as number);
      if (difference !== 0) return difference < 0;
    }
    return aEnd - a < bEnd - b;
  }

  /** A key: most are among a few dozen, as are short values. */
  #key(length: number): string {
    const start = this.#skip(length);
    if (length === 0 || length > MAX_CACHED) return this.#textAt(start, length);
    return cachedText(this.#bytes, start, length) ?? this.#textAt(start, length);
  }

  #text(length: number): string {
    const start = this.#skip(length);
    if (length === 0 || length > MOST_COMMON) return this.#textAt(start, length);
    return cachedText(this.#bytes, start, length) ?? this.#textAt(start, length);
  }

  #textAt(start: number, length: number): string {
    const text = utf8Slice.call(this.#bytes, start, start + length);
    // Buffer writes U+FFFD for bytes that are not UTF-8; only the strict decoder can tell whether one was meant.
    return text.includes('\ufffd') ? this.#strictText(start, length) : text;
  }

  #strictText(start: number, length: number): string {
    try {
      return utf8.decode(this.#bytes.subarray(start, start + length));
    } catch {
      throw this.#invalid('a text is not UTF-8');
    }
  }

  #binary(length: number): Uint8Array {
    const start = this.#skip(length);
    this.binaries++;
    return copyBytes(this.#bytes, start, length);
  }

  #extension(length: number): ContentRef {
    const type = this.#byte();
    if (type !== CONTENT_REF_TYPE) throw this.#invalid(`the extension type ${type} is unknown`);
    const end = this.at + length;
    const value = this.read(MAX_PACKED_DEPTH - 1);
    if (this.at !== end || !Array.isArray(value) || value.length !== 2)
      throw this.#invalid('a reference is malformed');
    const [sha256, size] = value as readonly Packable[];
    if (
      !(sha256 instanceof Uint8Array) ||
      sha256.length !== 32 ||
      typeof size !== 'number' ||
      !Number.isSafeInteger(size) ||
      size < 0
    )
      throw this.#invalid('a reference is malformed');
    this.refs++;
    this.binaries--;
    return new ContentRef(toHex(sha256), size);
  }

  #float(): number {
    const value = readDoubleBE.call(this.#bytes, this.#skip(8));
    if (!Number.isFinite(value)) throw this.#invalid('a number is not finite');
    if (Number.isSafeInteger(value)) throw this.#invalid('an integer is written as a float');
    return value;
  }

  #long(value: bigint): number | bigint {
    if (value < 0x1_0000_0000n) throw this.#invalid('an integer is longer than it needs to be');
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  }

  #negativeLong(value: bigint): number | bigint {
    if (value >= -0x8000_0000n) throw this.#invalid('an integer is longer than it needs to be');
    return value >= BigInt(Number.MIN_SAFE_INTEGER) ? Number(value) : value;
  }

  #negative(value: number, below: number): number {
    if (value >= below) throw this.#invalid('an integer is longer than it needs to be');
    return value;
  }

  #uint(size: 1 | 2 | 4, least: number): number {
    const at = this.#skip(size);
    const bytes = this.#bytes;
    let value = 0;
    for (let i = at; i < at + size; i++) value = value * 256 + (bytes[i] as number);
    if (value < least) throw this.#invalid('a length or an integer is longer than it needs to be');
    return value;
  }

  #byte(): number {
    const at = this.#skip(1);
    return this.#bytes[at] as number;
  }

  /** Skips `length` bytes; returns where they began. */
  #skip(length: number): number {
    const start = this.at;
    if (length > this.#bytes.length - start) throw this.#invalid('the bytes end in the middle of a value');
    this.at = start + length;
    return start;
  }

  #refuseList(count: number, depth: number): void {
    if (depth >= MAX_PACKED_DEPTH) throw this.#invalid('values are nested too deep');
    if (count > this.#bytes.length - this.at)
      throw this.#invalid('a count is larger than the bytes that are left');
  }

  #invalid(message: string): Error {
    return fail('E_FRAME_INVALID', `${message} (byte ${this.at})`, { at: this.at });
  }
}
