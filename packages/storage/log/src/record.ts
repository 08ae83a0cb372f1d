import { sha256 } from '@stemma/canonical';
import type { Envelope } from '@stemma/events';
import { decodeEnvelope } from './envelope.ts';
import type { LogRecord } from './port.ts';

/** Bytes of the SHA-256 after every frame. */
export const HASH_BYTES = 32;

/** The record of a frame: its bytes followed by their SHA-256 (record §1). */
export const sealRecord = (frame: Uint8Array): Uint8Array => {
  const record = new Uint8Array(frame.length + HASH_BYTES);
  record.set(frame);
  record.set(sha256(frame), frame.length);
  return record;
};

/** A record with a correct hash and a readable envelope. Views of the record's bytes. */
export type OpenRecord = {
  readonly frame: Uint8Array;
  readonly hash: Uint8Array;
  readonly envelope: Envelope;
  readonly bodyAt: number;
};

/** The parts of a record, or undefined if its hash fails or it is no record (record §2). Never throws. */
export const openRecord = (bytes: Uint8Array): OpenRecord | undefined => {
  const length = bytes.length - HASH_BYTES;
  if (length <= 0) return undefined;
  const frame = bytes.subarray(0, length);
  const hash = bytes.subarray(length);
  if (!sameBytes(sha256(frame), hash)) return undefined;
  const read = decodeEnvelope(frame);
  return read && { frame, hash, envelope: read.envelope, bodyAt: read.bodyAt };
};

/** The frame in a record whose hash nobody compares: for those who have another hash of what they read. */
export const frameOfRecord = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(0, Math.max(0, bytes.length - HASH_BYTES));

/** True if two byte strings are equal. */
export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

/** 32 bytes that identify a record in a cursor: its own hash if the record is valid, else a hash of its bytes. */
export const recordHash = (record: LogRecord, open: OpenRecord | undefined): Uint8Array => {
  if (open && !record.damaged && record.key === open.envelope.history) return open.hash;
  const found = new Uint8Array(record.bytes.length + 1);
  found.set(record.bytes, 1);
  return sha256(Buffer.concat([sha256(record.key === null ? '' : 'key:' + record.key), found]));
};
