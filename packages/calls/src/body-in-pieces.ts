import { sha256Hex } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { RecordedBody } from '@stemma/events';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { cutPieces, type BodyPiece } from './copied-pieces.ts';

/** The most bytes of a body that is recorded: a content has at most 64 MiB, in base64. */
export const MAX_RECORDED = 40 * 1024 * 1024;

/** A body that was recorded before, from which another may copy. */
export type BaseBody = { readonly location: EventRef; readonly bytes: Uint8Array };

/** A body as an event has it, and its own bytes, which go into the event's payload; null: it has none. */
export type EncodedBody = { readonly body: RecordedBody; readonly own: string | null };

/**
 * A body in pieces. What it shares with the base, or with what the reader of the event has anyway, is copied from there; its own
 * bytes are compressed if that saves something.
 *
 * @param companion what the reader has too; see {@link StoredBody}
 */
export const encodeBody = (bytes: Uint8Array, base: BaseBody | null, companion: Uint8Array): EncodedBody => {
  const fromBase = base === null ? wholeOwn(bytes) : cutPieces(base.bytes, bytes);
  const copies = base !== null && fromBase.some(({ length }) => length === 2);
  const baseSize = copies ? base.bytes.length : 0;
  const pieces = companion.length === 0 ? fromBase : copyFromCompanion(bytes, fromBase, companion, baseSize);
  const { own, encoding } = encodeOwn(ownBytes(bytes, pieces), companion);
  return {
    body: {
      sha256: sha256Hex(bytes),
      size: bytes.length,
      base: copies ? base.location : null,
      baseSize,
      pieces: pieces.map((piece) => [...piece]),
      encoding,
    },
    own,
  };
};

/** The pieces with those of the own bytes replaced that the companion has. */
const copyFromCompanion = (
  bytes: Uint8Array,
  pieces: readonly BodyPiece[],
  companion: Uint8Array,
  baseSize: number,
): BodyPiece[] => {
  let at = 0;
  return pieces.flatMap((piece): BodyPiece[] => {
    const [first, length] = piece;
    const start = at;
    at += length ?? first;
    if (length !== undefined) return [piece];
    return cutPieces(companion, bytes.subarray(start, at)).map(([from, size]): BodyPiece =>
      size === undefined ? [from] : [baseSize + from, size],
    );
  });
};

const wholeOwn = (bytes: Uint8Array): readonly (readonly [number])[] =>
  bytes.length === 0 ? [] : [[bytes.length]];

const ownBytes = (bytes: Uint8Array, pieces: readonly (readonly number[])[]): Uint8Array => {
  const own: Uint8Array[] = [];
  let at = 0;
  for (const [first = 0, length] of pieces) {
    if (length === undefined) own.push(bytes.subarray(at, at + first));
    at += length ?? first;
  }
  return own.length === 1 ? (own[0] as Uint8Array) : Buffer.concat(own);
};

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Fewer bytes are read faster than they are unpacked. */
const LEAST_PACKED = 512;

const encodeOwn = (
  bytes: Uint8Array,
  dictionary: Uint8Array,
): { readonly own: string | null; readonly encoding: RecordedBody['encoding'] } => {
  if (bytes.length === 0) return { own: null, encoding: 'text' };
  const text = textOf(bytes);
  if (text !== undefined && bytes.length < LEAST_PACKED) return { own: text, encoding: 'text' };
  const packed = zstdCompressSync(bytes, dictionary.length === 0 ? {} : { dictionary }).toString('base64');
  if (text !== undefined && bytes.length <= packed.length) return { own: text, encoding: 'text' };
  const plain = Math.ceil(bytes.length / 3) * 4;
  return packed.length < plain
    ? { own: packed, encoding: 'zstd' }
    : { own: Buffer.from(bytes).toString('base64'), encoding: 'base64' };
};

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
};

/** A body as its event has it. */
export type StoredBody = {
  readonly body: RecordedBody;
  readonly own: string | null;
  /** The bytes that it was encoded with, of other parts of the event or of its frame. */
  readonly companion: () => Uint8Array;
};

/** A part of the body that is read: `length` bytes `at` are those `from` there in the body that is looked at. */
type Part = { readonly at: number; readonly from: number; readonly length: number };

/**
 * The bytes of a body. Of those that it copies from, only what it needs is unpacked; so a request of a long conversation costs
 * one event for each earlier one, and its own size.
 *
 * @param load the body of an earlier event
 * @throws E_CALL_BODY_DAMAGED if they do not have the recorded hash; what `load` throws
 */
export const readBody = async (
  wanted: StoredBody,
  load: (location: EventRef) => Promise<StoredBody>,
): Promise<Uint8Array> => {
  const { body } = wanted;
  const bytes = Buffer.alloc(body.size);
  let parts: Part[] = [{ at: 0, from: 0, length: body.size }];
  for (let stored = wanted; ;) {
    parts = fillOwn(stored, parts, bytes, body);
    if (parts.length === 0) break;
    const { base } = stored.body;
    if (base === null) throw damaged(body);
    stored = await load(base);
  }
  if (sha256Hex(bytes) !== body.sha256) throw damaged(body);
  return bytes;
};

/** Writes what the body has of its own; returns the parts that it copies, as parts of its base. */
const fillOwn = (
  { body, own, companion: companionOf }: StoredBody,
  parts: readonly Part[],
  bytes: Uint8Array,
  wanted: RecordedBody,
): Part[] => {
  let owned: Uint8Array | undefined;
  let companion: Uint8Array | undefined;
  const copied: Part[] = [];
  let [start, used] = [0, 0];
  for (const [first = 0, length] of body.pieces) {
    const end = start + (length ?? first);
    for (const part of parts) {
      const from = Math.max(part.from, start);
      const size = Math.min(part.from + part.length, end) - from;
      if (size <= 0) continue;
      const at = part.at + from - part.from;
      if (length !== undefined && first < body.baseSize) {
        copied.push({ at, from: first + from - start, length: size });
        continue;
      }
      if (length !== undefined) {
        companion ??= companionOf();
        const copy = first - body.baseSize + from - start;
        if (copy + size > companion.length) throw damaged(wanted);
        bytes.set(companion.subarray(copy, copy + size), at);
        continue;
      }
      owned ??= decodeOwn(body, own, companionOf);
      const piece = owned.subarray(used + from - start, used + from - start + size);
      if (piece.length !== size) throw damaged(wanted);
      bytes.set(piece, at);
    }
    start = end;
    if (length === undefined) used += first;
  }
  if (parts.some(({ from, length }) => from + length > start)) throw damaged(wanted);
  return copied;
};

const NONE = new Uint8Array();

const decodeOwn = (body: RecordedBody, own: string | null, companionOf: () => Uint8Array): Uint8Array => {
  if (own === null) return NONE;
  switch (body.encoding) {
    case 'text':
      return Buffer.from(own);
    case 'base64':
      return Buffer.from(own, 'base64');
    case 'zstd':
      try {
        const dictionary = companionOf();
        return zstdDecompressSync(Buffer.from(own, 'base64'), {
          ...(dictionary.length === 0 ? {} : { dictionary }),
          // A frame that would become more than it says is not unpacked.
          maxOutputLength: Math.max(1, ownSize(body)),
        });
      } catch {
        throw damaged(body);
      }
  }
};

const ownSize = ({ pieces }: RecordedBody): number =>
  pieces.reduce((sum, [first = 0, length]) => (length === undefined ? sum + first : sum), 0);

const damaged = ({ sha256 }: RecordedBody): Error =>
  fail('E_CALL_BODY_DAMAGED', `the pieces of a body do not have its hash ${sha256}`, { sha256 });
