import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { endSocket } from '../front/end-socket.ts';
import type { CallRoute } from './address.ts';
import { forwardedHeaders, withHost } from './headers.ts';
import type { WebsocketWatch } from './websocket-calls.ts';
import { upstreamError, upstreamErrorBody, upstreamRequest } from './upstream-request.ts';

/**
 * Passes on a connection whose client asks for another protocol, such as websockets, and all bytes both ways. An upstream that
 * refuses is heard by the client.
 *
 * @param head what the client sent behind its request
 * @param watch hears the bytes, if somebody reads them. @param extensions what the upstream agreed to
 * @param passed called if nobody does
 */
export const tunnel = (
  incoming: IncomingMessage,
  client: Duplex,
  head: Buffer,
  { upstream, target }: CallRoute,
  watch: ((extensions: string | undefined) => WebsocketWatch) | undefined,
  passed: () => void,
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
  client.once('close', () => made.destroy());
  made.on('upgrade', (answer, server, first) => {
    server.on('error', () => server.destroy());
    server.once('close', () => client.destroy());
    client.once('close', () => server.destroy());
    const watched = watch?.(answer.headers['sec-websocket-extensions']);
    if (watched === undefined) passed();
    else watchBoth(watched, { client, server, head, first });
    client.write(headOf(answer, answer.rawHeaders));
    client.write(first);
    server.write(head);
    server.pipe(client);
    client.pipe(server);
  });
  made.on('response', (answer) => {
    passed();
    client.write(headOf(answer, [...forwardedHeaders(answer.rawHeaders, 'response'), 'Connection', 'close']));
    answer.on('error', () => client.destroy());
    answer.pipe(client);
  });
  made.on('error', ({ code }: NodeJS.ErrnoException) => {
    passed();
    if (!client.destroyed) endSocket(client, 502, upstreamErrorBody(upstreamError(code)));
  });
  made.end();
};

/** Has a connection that is read say what goes over it, beside its way. */
const watchBoth = (
  { fromClient, fromServer, ended }: WebsocketWatch,
  {
    client,
    server,
    head,
    first,
  }: Readonly<Record<'client' | 'server', Duplex> & Record<'head' | 'first', Buffer>>,
): void => {
  fromClient(head);
  fromServer(first);
  client.on('data', fromClient);
  server.on('data', fromServer);
  let isOver = false;
  const end = (byClient: boolean): void => {
    if (!isOver) ended(byClient);
    isOver = true;
  };
  client.once('end', () => end(true)).once('close', () => end(true));
  server.once('end', () => end(false)).once('close', () => end(false));
};

const headOf = ({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): Buffer => {
  let text = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
};
