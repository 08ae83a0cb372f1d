import type { UnkeptBody } from '@stemma/call-bodies';
import { MAX_KEPT } from '@stemma/events';
import { createHash, type Hash } from 'node:crypto';

/** The pieces of a body on its way. */
export type Capture = {
  add(piece: Uint8Array): void;
  /** Of a body that is larger than what is kept, its hash and size: nothing else of it is. Undefined: the pieces are all of it. */
  readonly unkept: () => UnkeptBody | undefined;
  readonly pieces: () => readonly Uint8Array[];
};

export const openCapture = (): Capture => {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let hash: Hash | undefined;
  return {
    add: (piece) => {
      size += piece.length;
      if (size <= MAX_KEPT) {
        pieces.push(piece);
        return;
      }
      hash ??= createHash('sha256');
      for (const each of [...pieces, piece]) hash.update(each);
      pieces = [];
    },
    unkept: () => (hash === undefined ? undefined : { sha256: hash.copy().digest('hex'), size }),
    pieces: () => pieces,
  };
};
