import { pack } from '@stemma/canonical';
import type { Envelope } from '@stemma/events';

/** The `prev` of the first frame of a history. */
export const ZERO_HASH: Uint8Array = new Uint8Array(32);

/** Ids are at most this long, in UTF-8 (snapshots: keys). */
export const MAX_ID_BYTES = 512;

/** The bytes of an envelope. Its layout never changes: every version reads the envelopes of all others (record §2). */
export const encodeEnvelope = ({ v, history, seq, prev }: Envelope): Uint8Array =>
  pack({ v, history, seq, prev });

/*
 * 84                     a map of four, keys by code point
 *   a7 "history"         text of 1…512 bytes
 *   a4 "prev"            c4 20 and 32 bytes
 *   a3 "seq"             integer 0…2^53−1, in its shortest form
 *   a1 "v"               integer 1…2^32−1, in its shortest form
 */
const HISTORY = Uint8Array.of(0x84, 0xa7, ...Buffer.from('history'));
const PREV = Uint8Array.of(0xa4, ...Buffer.from('prev'), 0xc4, 0x20);
const SEQ = Uint8Array.of(0xa3, ...Buffer.from('seq'));
const V = Uint8Array.of(0xa1, ...Buffer.from('v'));

/** The bytes that every frame begins with. A search for frames among damaged bytes looks for these. */
export const FRAME_BEGINS: Uint8Array = HISTORY;

/**
 * The envelope of a frame and the offset of its body, which is not read; undefined if the bytes do not begin with an
 * envelope. Never throws, and does not depend on the version, since every reader must check alike (record §2).
 */
export const decodeEnvelope = (frame: Uint8Array): { envelope: Envelope; bodyAt: number } | undefined => {
  if (!beginsWith(frame, 0, HISTORY)) return undefined;
  const text = readText(frame, HISTORY.length);
  if (!text || !beginsWith(frame, text.end, PREV)) return undefined;
  const prevAt = text.end + PREV.length;
  const seqAt = prevAt + 32;
  if (!beginsWith(frame, seqAt, SEQ)) return undefined;
  const seq = readInteger(frame, seqAt + SEQ.length);
  if (!seq || !beginsWith(frame, seq.end, V)) return undefined;
  const v = readInteger(frame, seq.end + V.length);
  if (!v || v.value < 1 || v.value > 0xffff_ffff) return undefined;
  const prev = new Uint8Array(frame.subarray(prevAt, seqAt));
  return { envelope: { v: v.value, history: text.value, seq: seq.value, prev }, bodyAt: v.end };
};

const beginsWith = (bytes: Uint8Array, at: number, part: Uint8Array): boolean => {
  if (bytes.length < at + part.length) return false;
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const readText = (bytes: Uint8Array, at: number): { value: string; end: number } | undefined => {
  const head = bytes[at] ?? 0;
  let start = at + 1;
  let length = head & 0x1f;
  if (head === 0xd9) {
    length = bytes[at + 1] ?? 0;
    start = at + 2;
    if (length < 0x20) return undefined;
  } else if (head === 0xda) {
    length = ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    start = at + 3;
    if (length < 0x100) return undefined;
  } else if (head < 0xa0 || head > 0xbf) return undefined;
  const end = start + length;
  if (length === 0 || length > MAX_ID_BYTES || end > bytes.length) return undefined;
  const value = asciiText(bytes, start, end) ?? strictText(bytes.subarray(start, end));
  return value === undefined ? undefined : { value, end };
};

const asciiText = (bytes: Uint8Array, start: number, end: number): string | undefined => {
  let value = '';
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte >= 0x80) return undefined;
    value += String.fromCharCode(byte);
  }
  return value;
};

const strictText = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
};

/** How many bytes follow each first byte of an unsigned integer, and the least value that needs them. */
const WIDTHS = new Map([
  [0xcc, [1, 0x80]],
  [0xcd, [2, 0x100]],
  [0xce, [4, 0x1_0000]],
  [0xcf, [8, 0x1_0000_0000]],
] as const);

const readInteger = (bytes: Uint8Array, at: number): { value: number; end: number } | undefined => {
  const head = bytes[at];
  if (head === undefined) return undefined;
  if (head < 0x80) return { value: head, end: at + 1 };
  const width = WIDTHS.get(head as 0xcc);
  if (!width || at + 1 + width[0] > bytes.length) return undefined;
  let value = 0;
  for (let i = at + 1; i <= at + width[0]; i++) value = value * 256 + (bytes[i] as number);
  return value < width[1] || !Number.isSafeInteger(value) ? undefined : { value, end: at + 1 + width[0] };
};
