import { sha256Hex } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { isBodyKept, type RecordedBody } from '@stemma/events';
import { cutPieces, type BodyPiece } from './copied-pieces.ts';
import { encodeEvents, encodeOwn } from './own-bytes.ts';

/** A body that was recorded before, from which another may copy. */
export type BaseBody = {
  readonly location: EventRef;
  readonly bytes: Uint8Array;
  readonly ordinal: number;
  /** The frames between it and the new body, which are looked through for what both share. */
  readonly since?: FrameBytes;
};

/** Frames of a history, and their bytes one after the other. */
export type FrameBytes = { readonly seqs: readonly number[]; readonly bytes: Uint8Array };

/** A body as an event has it, and its own bytes, which go into the event's payload; null: it has none. */
export type EncodedBody = { readonly body: RecordedBody; readonly own: string | null };

/** All that is recorded of a body that is too large (calls §2.3). */
export type UnkeptBody = Pick<RecordedBody, 'sha256' | 'size'>;

/** What an event has of a body that is not kept; undefined for one that is. */
const withoutBytes = (given: Uint8Array | UnkeptBody): EncodedBody | undefined => {
  const size = given instanceof Uint8Array ? given.length : given.size;
  if (isBodyKept({ size })) return undefined;
  const sha256 = given instanceof Uint8Array ? sha256Hex(given) : given.sha256;
  return { body: { sha256, size, base: null, pieces: [], encoding: 'none' }, own: null };
};

/**
 * A body as an event has it: of one that is too large its hash and size, else its pieces. What it shares with the base, or with what the reader of the event has anyway, is copied from there; its own
 * bytes are compressed if that saves something.
 *
 * @param companion what the reader has too; see {@link StoredBody}
 */
export const encodeBody = (
  given: Uint8Array | UnkeptBody,
  base: BaseBody | null,
  companion: Uint8Array,
): EncodedBody => withoutBytes(given) ?? encodeKept(given as Uint8Array, base, companion);

const encodeKept = (bytes: Uint8Array, base: BaseBody | null, companion: Uint8Array): EncodedBody => {
  const events = base === null ? encodeEvents(bytes, companion) : undefined;
  if (events !== undefined && events.length < bytes.length) {
    const pieces = wholeOwn(bytes).map((piece) => [...piece]);
    return {
      body: { sha256: sha256Hex(bytes), size: bytes.length, base: null, pieces, encoding: 'events' },
      own: events,
    };
  }
  const fromBase = base === null ? wholeOwn(bytes) : cutPieces(base.bytes, bytes);
  const copied = fromBase.some(({ length }) => length === 2) ? base : null;
  const baseSize = copied?.bytes.length ?? 0;
  const pieces = companion.length === 0 ? fromBase : copyFromCompanion(bytes, fromBase, companion, baseSize);
  const { seqs, bytes: dictionary } = copied?.since ?? { seqs: [], bytes: companion };
  const { own, encoding } = encodeOwn(ownBytes(bytes, pieces), dictionary);
  return {
    body: {
      sha256: sha256Hex(bytes),
      size: bytes.length,
      base: copied && { ...copied.location, size: baseSize, ordinal: copied.ordinal, frames: [...seqs] },
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
