/** How many bytes pieces have together. */
export const bytesIn = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/**
 * Pieces one after the other, in memory of their own. `Buffer.concat` puts what is small into memory that others share: a message
 * to another thread takes all of that along.
 */
export const joinBytes = (pieces: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(bytesIn(pieces));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
};
