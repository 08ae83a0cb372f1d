import { fail } from '@stemma/errors';
import { fromHex } from './hash.ts';
import { keysInOrder } from './key-order.ts';

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
  at = 0;
  write(value, 0);
  const packed = new Uint8Array(at);
  packed.set(bytes.subarray(0, at));
  if (bytes.length > MOST_KEPT) bytes = Buffer.allocUnsafeSlow(MOST_KEPT);
  return packed;
};

/** Memory that a value is written to before its length is known, and how much of it was written. */
const MOST_KEPT = 1024 * 1024;
let bytes = Buffer.allocUnsafeSlow(16 * 1024);
let at = 0;

/** Makes room for so many more bytes. */
const reserve = (count: number): void => {
  if (count <= bytes.length - at) return;
  const longer = Buffer.allocUnsafeSlow(Math.max(bytes.length * 2, at + count));
  bytes.copy(longer, 0, 0, at);
  bytes = longer;
};

const write = (value: Packable, depth: number): void => {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'a text holds an unpaired surrogate');
      writeText(value);
      break;
    case 'number':
      writeNumber(value);
      break;
    case 'bigint':
      writeBigint(value);
      break;
    case 'boolean':
      writeByte(value ? 0xc3 : 0xc2);
      break;
    case 'object':
      writeObject(value, depth);
      break;
    default:
      throw fail('E_INPUT_SHAPE', `a ${typeof value} cannot be recorded`);
  }
};

const writeObject = (value: Packable & (object | null), depth: number): void => {
  if (value === null) writeByte(0xc0);
  else if (value instanceof Uint8Array) writeBinary(value);
  else if (value instanceof ContentRef) writeRef(value);
  else if (depth === MAX_PACKED_DEPTH)
    throw fail('E_INPUT_TOO_DEEP', `values are nested more than ${depth} deep`);
  else if (Array.isArray(value)) writeList(value as readonly Packable[], depth + 1);
  else writeMap(value as Record<string, Packable>, depth + 1);
};

const writeByte = (byte: number): void => {
  reserve(1);
  bytes[at++] = byte;
};

/** A byte that says what follows, and a length or an integer in so many bytes. */
const writeHead = (head: number, size: 1 | 2 | 4, value: number): void => {
  reserve(1 + size);
  bytes[at++] = head;
  for (let shift = (size - 1) * 8; shift >= 0; shift -= 8) bytes[at++] = value >>> shift;
};

/** The length of a list, a map or bytes, in the shortest form that its kind has. */
const writeLength = (length: number, head8: number | null, head16: number): void => {
  if (head8 !== null && length < 0x100) writeHead(head8, 1, length);
  else if (length < 0x1_0000) writeHead(head16, 2, length);
  else writeHead(head16 + 1, 4, length);
};

const writeNumber = (value: number): void => {
  if (!Number.isSafeInteger(value)) {
    if (!Number.isFinite(value)) throw fail('E_INPUT_NUMBER', `${String(value)} cannot be recorded`);
    writeByte(0xcb);
    reserve(8);
    at = bytes.writeDoubleBE(value, at);
  } else if (value >= 0) {
    if (value < 0x80) writeByte(value);
    else if (value < 0x100) writeHead(0xcc, 1, value);
    else if (value < 0x1_0000) writeHead(0xcd, 2, value);
    else if (value < 0x1_0000_0000) writeHead(0xce, 4, value);
    else writeLong(BigInt(value));
  } else if (value >= -0x20) writeByte(value);
  else if (value >= -0x80) writeHead(0xd0, 1, value);
  else if (value >= -0x8000) writeHead(0xd1, 2, value);
  else if (value >= -0x8000_0000) writeHead(0xd2, 4, value);
  else writeLong(BigInt(value));
};

const writeLong = (value: bigint): void => {
  writeByte(value < 0n ? 0xd3 : 0xcf);
  reserve(8);
  at = value < 0n ? bytes.writeBigInt64BE(value, at) : bytes.writeBigUInt64BE(value, at);
};

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

const writeBigint = (value: bigint): void => {
  if (value < MIN_INT64 || value > MAX_UINT64)
    throw fail('E_INPUT_NUMBER', `${value.toString()} has more than 64 bits`);
  if (value <= MAX_SAFE && value >= -MAX_SAFE) writeNumber(Number(value));
  else writeLong(value);
};

/** Up to this length a loop is faster than a call into the engine. */
const SHORT = 24;
const LONG = 16 * 1024;

const writeText = (text: string): void => {
  const { length } = text;
  // A unit takes three bytes at most, a head five; of long texts the bytes are counted.
  reserve(5 + (length <= LONG ? length * 3 : Buffer.byteLength(text)));
  if (length <= SHORT && writeShortAscii(text)) return;
  // Most texts have about as many bytes as units: the head is made for those, and the bytes are moved if it must be longer.
  const head = textHead(length);
  const size = bytes.write(text, at + head, 'utf8');
  const needed = textHead(size);
  if (needed !== head) bytes.copyWithin(at + needed, at + head, at + head + size);
  writeTextLength(size);
  at += size;
};

/** False, and nothing written, if the text has a character beyond ASCII. */
const writeShortAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return false;
    bytes[at + 1 + i] = unit;
  }
  bytes[at] = 0xa0 | text.length;
  at += 1 + text.length;
  return true;
};

/** Bytes of the head of a text with so many bytes. */
const textHead = (length: number): number =>
  length < 0x20 ? 1 : length < 0x100 ? 2 : length < 0x1_0000 ? 3 : 5;

const writeTextLength = (length: number): void => {
  if (length < 0x20) writeByte(0xa0 | length);
  else writeLength(length, 0xd9, 0xda);
};

const writeBinary = (value: Uint8Array): void => {
  writeLength(value.length, 0xc4, 0xc5);
  reserve(value.length);
  bytes.set(value, at);
  at += value.length;
};

const writeRef = ({ sha256, size }: ContentRef): void => {
  writeHead(0xc7, 1, 0);
  const start = at;
  writeByte(CONTENT_REF_TYPE);
  writeList([fromHex(sha256), size], 0);
  // The length counts what follows the type.
  bytes[start - 1] = at - start - 1;
};

const writeList = (list: readonly Packable[], depth: number): void => {
  if (list.length < 0x10) writeByte(0x90 | list.length);
  else writeLength(list.length, null, 0xdc);
  for (let i = 0; i < list.length; i++) write(list[i] as Packable, depth);
};

const writeMap = (map: Record<string, Packable>, depth: number): void => {
  const prototype: unknown = Object.getPrototypeOf(map);
  if (prototype !== Object.prototype && prototype !== null)
    throw fail('E_INPUT_SHAPE', 'only plain objects can be recorded');
  const keys = keysInOrder(map);
  if (keys.length < 0x10) writeByte(0x80 | keys.length);
  else writeLength(keys.length, null, 0xde);
  for (const key of keys) {
    writeText(key);
    write(map[key] as Packable, depth);
  }
};
