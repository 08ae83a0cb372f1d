import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { forwardedHeaders, requestHeaders } from '../proxy/headers.ts';
import { upstreamError, upstreamErrorBody, upstreamRequest } from '../proxy/upstream-request.ts';
import type { CallRoute } from '../proxy/address.ts';

/** Passes a plain request on, and its answer back, and keeps nothing of either. */
export const forwardUnread = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { upstream, target }: Pick<CallRoute, 'upstream' | 'target'>,
): void => {
  const { method = 'GET' } = incoming;
  const made = upstreamRequest(upstream, {
    method,
    path: target,
    headers: requestHeaders(incoming, upstream.host),
  });
  outgoing.once('close', () => made.destroy());
  made.on('response', (answer) => {
    const { statusCode = 502, statusMessage = '', rawHeaders } = answer;
    outgoing.writeHead(statusCode, statusMessage, forwardedHeaders(rawHeaders, 'response'));
    pipeline(answer, outgoing, () => undefined);
  });
  made.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (outgoing.headersSent) outgoing.destroy();
    else {
      outgoing.writeHead(502, { 'content-type': 'application/json', connection: 'close' });
      outgoing.end(upstreamErrorBody(upstreamError(code)));
    }
  });
  incoming.on('error', () => made.destroy());
  incoming.pipe(made);
};
