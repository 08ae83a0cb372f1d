import { bytesIn, sha256Hex } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { isBodyKept, MAX_KEPT, type RecordedBody } from '@stemma/events';
import { decodeOwn } from './own-bytes.ts';

/** A body as its event has it. */
export type StoredBody = {
  readonly body: RecordedBody;
  readonly own: string | null;
  /** The bytes that it was encoded with, of other parts of the event or of its frame. */
  readonly companion: () => Uint8Array;
};

/** Where bodies of a history are read from. */
export type BodySource = {
  readonly body: (location: EventRef) => Promise<StoredBody>;
  /** The bytes of frames. */
  readonly frames: (seqs: readonly number[]) => Promise<readonly Uint8Array[]>;
  /** The bytes of a body that are at hand. */
  readonly known?: (location: EventRef) => Uint8Array | undefined;
};

/** A part of the body that is read: `length` bytes `at` are those `from` there in the body that is looked at. */
type Part = { readonly at: number; readonly from: number; readonly length: number };

/**
 * The bytes of a body. Of those that it copies from, only what it needs is unpacked.
 *
 * @throws E_CALL_BODY_NOT_KEPT, E_CALL_BODY_DAMAGED if they do not have the recorded hash; what the source throws
 */
export const readBody = async (wanted: StoredBody, source: BodySource): Promise<Uint8Array> => {
  if (wanted.body.encoding === 'none') throw notKept(wanted.body);
  if (!isBodyKept(wanted.body)) throw damaged(wanted.body);
  // Every byte of it is written, or it is not returned.
  const bytes = Buffer.allocUnsafeSlow(wanted.body.size);
  let parts: Part[] = [{ at: 0, from: 0, length: bytes.length }];
  for (let [stored, before] = [wanted, Infinity]; parts.length > 0;) {
    const { base } = stored.body;
    const owned = needsOwn(stored.body, parts) ? await unpacked(stored, source) : NONE;
    parts = fill(stored, owned, parts, bytes);
    if (parts.length === 0) break;
    if (base === null || base.seq >= before) throw damaged(wanted.body);
    before = base.seq;
    const known = source.known?.({ seq: base.seq, index: base.index });
    if (known !== undefined) {
      for (const { at, from, length } of parts) bytes.set(known.subarray(from, from + length), at);
      break;
    }
    stored = await source.body(base);
  }
  if (sha256Hex(bytes) !== wanted.body.sha256) throw damaged(wanted.body);
  return bytes;
};

const unpacked = async ({ body, own, companion }: StoredBody, source: BodySource): Promise<Uint8Array> => {
  if (own === null) return NONE;
  const { encoding, base, pieces } = body;
  const size = pieces.reduce((sum, [first = 0, length]) => (length === undefined ? sum + first : sum), 0);
  if (size > body.size || !isBodyKept(body)) throw damaged(body);
  const isPlain = encoding === 'text' || encoding === 'base64';
  const between = base?.frames ?? [];
  const frames = isPlain || between.length === 0 ? [] : await source.frames(between);
  const dictionary = isPlain ? NONE : frames.length > 0 ? inScratch(frames) : companion();
  try {
    const bytes = decodeOwn({ own, encoding }, size, dictionary);
    if (bytes.length === size) return bytes;
  } catch {
    // What the decoder says of damaged bytes helps nobody.
  }
  throw damaged(body);
};

const NONE = new Uint8Array();

/** New memory costs more than what is done with it. */
let scratch = new Uint8Array();

/** The bytes one after the other, until the next call. */
const inScratch = (list: readonly Uint8Array[]): Uint8Array => {
  const size = bytesIn(list);
  if (scratch.length < size) scratch = new Uint8Array(size);
  let at = 0;
  for (const bytes of list) {
    scratch.set(bytes, at);
    at += bytes.length;
  }
  return scratch.subarray(0, size);
};

/** True if one of the parts is among the own bytes of the body. */
const needsOwn = ({ pieces }: RecordedBody, parts: readonly Part[]): boolean => {
  let start = 0;
  for (const [first = 0, length] of pieces) {
    const end = start + (length ?? first);
    if (length === undefined && parts.some((part) => part.from < end && part.from + part.length > start))
      return true;
    start = end;
  }
  return false;
};

/** Writes what the body has without its base; returns the parts that it copies from there, as parts of it. */
const fill = (
  { body, companion: companionOf }: StoredBody,
  owned: Uint8Array,
  parts: readonly Part[],
  bytes: Uint8Array,
): Part[] => {
  let companion: Uint8Array | undefined;
  const copied: Part[] = [];
  const write = (source: Uint8Array, from: number, size: number, at: number): void => {
    const piece = source.subarray(from, from + size);
    if (piece.length !== size) throw damaged(body);
    bytes.set(piece, at);
  };
  const baseSize = body.base?.size ?? 0;
  let [start, used] = [0, 0];
  for (const [first = 0, length] of body.pieces) {
    const end = start + (length ?? first);
    for (const part of parts) {
      const from = Math.max(part.from, start);
      const size = Math.min(part.from + part.length, end) - from;
      if (size <= 0) continue;
      const at = part.at + from - part.from;
      const skipped = from - start;
      if (length === undefined) write(owned, used + skipped, size, at);
      else if (first < baseSize) copied.push({ at, from: first + skipped, length: size });
      else write((companion ??= companionOf()), first - baseSize + skipped, size, at);
    }
    start = end;
    if (length === undefined) used += first;
  }
  if (parts.some(({ from, length }) => from + length > start)) throw damaged(body);
  return copied;
};

/** Why nobody can give back a body of which hash and size are recorded. */
export const notKept = ({ sha256, size }: Pick<RecordedBody, 'sha256' | 'size'>): Error =>
  fail(
    'E_CALL_BODY_NOT_KEPT',
    `the body had ${size} bytes, and of more than ${MAX_KEPT} only the hash is kept: ${sha256}`,
    { sha256, size },
  );

export const damaged = ({ sha256 }: RecordedBody): Error =>
  fail('E_CALL_BODY_DAMAGED', `the pieces of a body do not have its hash ${sha256}`, { sha256 });
