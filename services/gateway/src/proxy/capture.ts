import { MAX_RECORDED } from '@stemma/calls';

/** The pieces of a body on its way. */
export type Capture = {
  add(piece: Uint8Array): void;
  /** False: it is larger than what is kept, and nothing of it is. */
  readonly whole: () => boolean;
  readonly pieces: () => readonly Uint8Array[];
};

export const openCapture = (): Capture => {
  let pieces: Uint8Array[] = [];
  let size = 0;
  return {
    add: (piece) => {
      size += piece.length;
      if (size > MAX_RECORDED) pieces = [];
      else pieces.push(piece);
    },
    whole: () => size <= MAX_RECORDED,
    pieces: () => pieces,
  };
};
