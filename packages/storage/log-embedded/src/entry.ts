import { crc32 } from 'node:zlib';

/*
 * An entry of a segment, integers big-endian (docs/formats/record.md):
 *
 *   0   4  magic c1 53 4d 31; c1 begins neither a msgpack value nor a character of UTF-8
 *   4   4  n, bytes of the record
 *   8   2  k, bytes of the key
 *  10   4  CRC-32 of bytes 0…9, the entry's own offset (8 bytes) and the key
 *  14   k  the key: the history's id
 *  14+k n  the record: a frame and its SHA-256
 */
export const MAGIC: Uint8Array = Uint8Array.of(0xc1, 0x53, 0x4d, 0x31);
export const HEADER_BYTES = 14;
const CRC_AT = 10;
/** Longer keys and records are refused: no frame comes near these sizes (record §4). */
export const MAX_KEY_BYTES = 1024;
export const MAX_RECORD_BYTES = 4 * 1024 * 1024;

/** The offsets of an entry's parts in a buffer, its header verified. */
export type EntryBounds = { readonly keyAt: number; readonly recordAt: number; readonly end: number };

/** The bytes of an entry with such a key and record. */
export const entryBytes = (keyBytes: number, recordBytes: number): number =>
  HEADER_BYTES + keyBytes + recordBytes;

/** Writes an entry into a buffer; returns where it ends. `offset` is its offset in the partition. */
export const writeEntry = (
  buffer: Buffer,
  at: number,
  offset: number,
  key: Uint8Array,
  record: Uint8Array,
): number => {
  buffer.set(MAGIC, at);
  buffer.writeUInt32BE(record.length, at + 4);
  buffer.writeUInt16BE(key.length, at + 8);
  buffer.set(key, at + HEADER_BYTES);
  buffer.set(record, at + HEADER_BYTES + key.length);
  buffer.writeUInt32BE(checksum(buffer, at, offset, key.length), at + CRC_AT);
  return at + entryBytes(key.length, record.length);
};

/**
 * The entry at an offset of a buffer. `short`: the buffer ends before the header or the entry does (`end` then shows
 * where the entry ends). Undefined: no entry begins here.
 */
export const readEntry = (buffer: Buffer, at: number, offset: number): EntryBounds | 'short' | undefined => {
  if (buffer.length - at < HEADER_BYTES) return 'short';
  for (let i = 0; i < MAGIC.length; i++) if (buffer[at + i] !== MAGIC[i]) return undefined;
  const recordBytes = buffer.readUInt32BE(at + 4);
  const keyBytes = buffer.readUInt16BE(at + 8);
  if (keyBytes > MAX_KEY_BYTES || recordBytes > MAX_RECORD_BYTES) return undefined;
  const keyAt = at + HEADER_BYTES;
  if (buffer.length < keyAt + keyBytes) return 'short';
  if (buffer.readUInt32BE(at + CRC_AT) !== checksum(buffer, at, offset, keyBytes)) return undefined;
  return { keyAt, recordAt: keyAt + keyBytes, end: keyAt + keyBytes + recordBytes };
};

/** As {@link readEntry}, where an entry is known to begin: its header is not verified. */
export const boundsAt = (buffer: Buffer, at: number): EntryBounds | undefined => {
  if (buffer.length - at < HEADER_BYTES || buffer[at] !== MAGIC[0]) return undefined;
  const recordAt = at + HEADER_BYTES + buffer.readUInt16BE(at + 8);
  return { keyAt: at + HEADER_BYTES, recordAt, end: recordAt + buffer.readUInt32BE(at + 4) };
};

const scratch = Buffer.alloc(CRC_AT + 8 + MAX_KEY_BYTES);

/**
 * The checksum includes the offset, so that the bytes of an entry elsewhere, or quoted in a record, do not count as
 * one.
 */
const checksum = (buffer: Buffer, at: number, offset: number, keyBytes: number): number => {
  const keyAt = at + HEADER_BYTES;
  scratch.set(buffer.subarray(at, at + CRC_AT));
  scratch.writeUInt32BE(Math.floor(offset / 0x1_0000_0000), CRC_AT);
  scratch.writeUInt32BE(offset % 0x1_0000_0000, CRC_AT + 4);
  scratch.set(buffer.subarray(keyAt, keyAt + keyBytes), CRC_AT + 8);
  return crc32(scratch.subarray(0, CRC_AT + 8 + keyBytes));
};
