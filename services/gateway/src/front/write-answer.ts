import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { HttpAnswer, StreamedAnswer } from './answer.ts';

/** Writes an answer: the head and a whole body at once, pieces as fast as the client takes them. */
export const writeAnswer = async (
  outgoing: ServerResponse,
  answer: HttpAnswer | StreamedAnswer,
): Promise<void> => {
  const { status, headers } = answer;
  if ('pieces' in answer) {
    await writePieces(outgoing, answer);
    return;
  }
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  if (outgoing.destroyed) return;
  if (body === null) outgoing.writeHead(status, headers).end();
  else outgoing.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
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
  outgoing.writeHead(status, headers);
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
