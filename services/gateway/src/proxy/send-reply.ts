import type { CallReply } from '@stemma/reruns';
import type { ServerResponse } from 'node:http';

/** Sends a recorded answer piece by piece, as fast as the client takes it; where the recorded one was cut off, so is this one. */
export const sendReply = (
  outgoing: ServerResponse,
  { status, headers, pieces, isCut }: Extract<CallReply, { readonly kind: 'served' }>,
): void => {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, { ...headers });
  let next = 0;
  const write = (): void => {
    while (next < pieces.length) {
      const piece = pieces[next++] as Uint8Array;
      if (!outgoing.write(piece)) {
        outgoing.once('drain', write);
        return;
      }
    }
    if (!isCut) outgoing.end();
    // What was written reaches the client before the end of the connection does.
    else if (outgoing.writableNeedDrain) outgoing.once('drain', () => outgoing.destroy());
    else outgoing.write(NO_BYTES, () => outgoing.destroy());
  };
  write();
};

const NO_BYTES = new Uint8Array();
