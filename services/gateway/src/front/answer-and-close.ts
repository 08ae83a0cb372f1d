import type { ServerResponse } from 'node:http';
import type { HttpAnswer } from './answer.ts';

/** Writes an answer whose request may not have been read to its end: the connection is of no more use. */
export const answerAndClose = (outgoing: ServerResponse, { status, headers, body }: HttpAnswer): void => {
  outgoing.writeHead(status, { ...headers, connection: 'close' });
  outgoing.end(body ?? undefined);
};
