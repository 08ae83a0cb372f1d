import { StemmaError } from '@stemma/errors';
import { crc32 } from 'node:zlib';
import type { Table } from './table.ts';

/*
 * A stored value ends with a checksum of four bytes over its table, its key and itself: a changed bit is noticed, a value
 * that lies under another key, and one that was cut. A row is some 100 bytes, so a call of native code would cost more than it
 * computes (200 ns instead of 60): short ones are hashed here, four bytes at a time. Every step is a bijection
 * of the hash so far, so a change of up to 32 bits within one group of four is always noticed, any other all but once
 * in 2^32.
 */

export const CHECKSUM_BYTES = 4;

/** Longer bytes go through the CRC-32 of zlib, which is faster then. */
const MOST_SHORT = 512;

/** The hash of some bytes after what was hashed before. */
export const hashBytes = (seed: number, bytes: Uint8Array, start = 0, end = bytes.length): number => {
  if (end - start > MOST_SHORT) return crc32(bytes.subarray(start, end), seed >>> 0) | 0;
  let hash = seed;
  let i = start;
  for (const last = end - 3; i < last; i += 4) {
    const word =
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    hash = Math.imul(hash ^ word, FACTOR);
    hash ^= hash >>> 15;
  }
  for (; i < end; i++) {
    hash = Math.imul(hash ^ (bytes[i] as number), FACTOR);
    hash ^= hash >>> 15;
  }
  return hash ^ (end - start);
};

/** Odd, so that no two hashes become one. */
const FACTOR = 0x9e37_79b1;

const seeds = new Map<string, number>();

/** What the hash of a key begins with: the table it belongs to. */
export const seedOf = ({ name }: Pick<Table, 'name'>): number => {
  let seed = seeds.get(name);
  if (seed === undefined) seeds.set(name, (seed = hashBytes(FACTOR, Buffer.from(name))));
  return seed;
};

/** True if the bytes are a value with its checksum behind it. @param seed the hash of the table and the key */
export const isSealed = (seed: number, sealed: Uint8Array): boolean => {
  const end = sealed.length - CHECKSUM_BYTES;
  if (end < 0) return false;
  const checksum =
    (sealed[end] as number) |
    ((sealed[end + 1] as number) << 8) |
    ((sealed[end + 2] as number) << 16) |
    ((sealed[end + 3] as number) << 24);
  return hashBytes(seed, sealed, 0, end) === checksum;
};

/** The bytes with their checksum behind them. */
export const sealBytes = (seed: number, bytes: Uint8Array): Buffer => {
  const sealed = Buffer.allocUnsafe(bytes.length + CHECKSUM_BYTES);
  sealed.set(bytes);
  sealed.writeInt32LE(hashBytes(seed, bytes), bytes.length);
  return sealed;
};

/** The bytes without their checksum; undefined if it is wrong. */
export const unsealBytes = (seed: number, sealed: Uint8Array): Buffer | undefined =>
  isSealed(seed, sealed)
    ? Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length - CHECKSUM_BYTES)
    : undefined;

/** A row that is not what was written. The generation has to be built again. */
export const rowsDamaged = (generation: string, table: string): StemmaError =>
  new StemmaError('E_ROWS_DAMAGED', `a row of ${table} in ${generation} is not what was written there`, {
    table,
    generation,
  });
