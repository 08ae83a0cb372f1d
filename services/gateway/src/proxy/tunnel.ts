import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { endSocket } from '../front/end-socket.ts';
import type { CallRoute } from './address.ts';
import { forwardedHeaders, withHost } from './headers.ts';
import { upstreamError, upstreamErrorBody, upstreamRequest } from './upstream-request.ts';

/**
 * Passes on a connection whose client asks for another protocol, such as websockets, and all bytes both ways. An upstream that
 * refuses is heard by the client. Nothing of it is recorded.
 *
 * @param head what the client sent behind its request
 */
export const tunnel = (
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
  { upstream, target }: CallRoute,
): void => {
  const { method = 'GET', headers, rawHeaders } = incoming;
  const made = upstreamRequest(upstream, {
    method,
    path: target,
    headers: [
      ...withHost(forwardedHeaders(rawHeaders, 'request'), upstream.host),
      ...['Connection', 'Upgrade', 'Upgrade', headers.upgrade ?? ''],
    ],
    alone: true,
  });
  client.on('error', () => client.destroy());
  client.once('close', () => made.destroy());
  made.on('upgrade', (answer, server, first) => {
    server.on('error', () => server.destroy());
    server.once('close', () => client.destroy());
    client.once('close', () => server.destroy());
    client.write(headOf(answer, answer.rawHeaders));
    client.write(first);
    server.write(head);
    server.pipe(client);
    client.pipe(server);
  });
  made.on('response', (answer) => {
    client.write(headOf(answer, [...forwardedHeaders(answer.rawHeaders, 'response'), 'Connection', 'close']));
    answer.on('error', () => client.destroy());
    answer.pipe(client);
  });
  made.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (!client.destroyed) endSocket(client, 502, upstreamErrorBody(upstreamError(code)));
  });
  made.end();
};

const headOf = ({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): Buffer => {
  let text = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
};
