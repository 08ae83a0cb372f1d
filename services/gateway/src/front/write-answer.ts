import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { withSafeHeaders } from '../headers.ts';
import type { HttpAnswer, StreamedAnswer } from './answer.ts';

/** Writes an answer: the head and a whole body at once, pieces as fast as the client takes them. */
export const writeAnswer = (
  outgoing: ServerResponse,
  answer: HttpAnswer | StreamedAnswer,
): Promise<void> | undefined => {
  if ('pieces' in answer) return writePieces(outgoing, answer);
  if (outgoing.destroyed) return undefined;
  const { status, body } = answer;
  const headers = withSafeHeaders(answer.headers);
  if (body === null) outgoing.writeHead(status, headers).end();
  else {
    headers['content-length'] = String(Buffer.byteLength(body));
    outgoing.writeHead(status, headers).end(body);
  }
  return undefined;
};

const writePieces = async (
  outgoing: ServerResponse,
  { status, headers, pieces }: StreamedAnswer,
): Promise<void> => {
  const gone = new AbortController();
  outgoing.once('close', () => {
    gone.abort();
    pieces.cancel();
  });
  if (outgoing.destroyed) {
    pieces.cancel();
    return;
  }
  outgoing.writeHead(status, withSafeHeaders(headers));
  // Who opens a stream learns at once that it is open.
  outgoing.flushHeaders();
  try {
    for (;;) {
      const piece = await pieces.next();
      if (gone.signal.aborted) return;
      if (piece === undefined) {
        outgoing.end();
        return;
      }
      if (!outgoing.write(piece)) await once(outgoing, 'drain', { signal: gone.signal });
    }
  } catch (error) {
    if (!gone.signal.aborted) outgoing.destroy(error instanceof Error ? error : undefined);
  }
};
