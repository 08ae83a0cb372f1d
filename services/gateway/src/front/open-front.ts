import { fail, isStemmaError } from '@stemma/errors';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpAnswer, StreamedAnswer } from './answer.ts';
import { endSocket } from './end-socket.ts';
import { boundConnections } from './connections.ts';
import type { CountAtDoor } from './door-counts.ts';
import { errorAnswer } from './error-answer.ts';
import { headerText, type HeaderList } from './header-list.ts';
import type { GatewayLimits } from './limits.ts';
import { refuseMethod, refuseUnknown } from './methods.ts';
import { openBodyReader } from './read-body.ts';
import { writeAnswer } from './write-answer.ts';

/** A request that was let in. */
export type FrontRequest = {
  readonly method: string;
  /** The name that the client called, with its port. */
  readonly host: string;
  /** The path and the query, as they were sent, and the path alone. */
  readonly target: string;
  readonly path: string;
  /** @param name in lower case */
  readonly header: (name: string) => string | undefined;
  readonly headers: () => HeaderList;
  /** The pieces of its body, which has arrived whole; null for a method without one. */
  readonly body: readonly Buffer[] | null;
  /** The connection that it came on: the client, as far as it is known. */
  readonly client: Socket;
  /** Is called if the client goes before it has its answer. */
  readonly onGone: (act: () => void) => void;
  /** Takes room for the bytes of an answer, until the client has them. @throws E_BUSY when others hold all of it */
  readonly hold: (bytes: number) => void;
};

/** What answers some requests itself, as they come: no limit on bodies or answers holds for them. */
export type Bypass = {
  readonly takes: (incoming: Pick<IncomingMessage, 'url'>) => boolean;
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Answers one that asks for another protocol. @throws what the client is told */
  readonly upgrade: (incoming: IncomingMessage, client: Duplex, head: Buffer) => void;
};

/** What answers a request that was let in. */
export type Answering = (
  request: FrontRequest,
) => HttpAnswer | StreamedAnswer | Promise<HttpAnswer | StreamedAnswer>;

/**
 * A server whose clients are held to limits before anything is made of what they send: method first, then the number of
 * bytes and of values, and how fast they come.
 */
export const openFront = (
  answering: Answering,
  limits: GatewayLimits,
  count: CountAtDoor = () => undefined,
  bypass?: Bypass,
): Server => {
  const server = createServer({
    headersTimeout: limits.headers,
    // Bodies have a rate of their own: a large one may take its time.
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 15_000,
    // Nobody else speaks another protocol: their requests are answered as if they had not asked.
    shouldUpgradeCallback: ({ headers, method = '', url = '' }) =>
      method === 'GET' && /^websocket$/i.test(headers.upgrade ?? '') && bypass?.takes({ url }) === true,
  });
  const connections = boundConnections(server, limits, count);
  const readBody = openBodyReader(limits);
  let answers = 0;

  const refuse = (error: unknown): HttpAnswer => {
    count('stemma_http_refused_total', { code: isStemmaError(error) ? error.code : 'E_INTERNAL' });
    return errorAnswer(error);
  };

  const answered = async (
    incoming: IncomingMessage,
    exchange: Exchange,
  ): Promise<HttpAnswer | StreamedAnswer> => {
    const request = requestOf(incoming, exchange);
    refuseMethod(request.method, request.path);
    if (request.method !== 'POST') return answering(request);
    refuseUnknown(request.path);
    const { chunks, release } = await readBody(incoming, lengthOf(incoming));
    try {
      request.body = chunks;
      return await answering(request);
    } finally {
      release();
    }
  };
  server.on('request', (incoming, outgoing) => {
    const { admitted, done } = connections.begin(incoming.socket);
    if (admitted && bypass?.takes(incoming) === true) {
      connections.spare(incoming.socket);
      outgoing.once('close', done);
      bypass.handle(incoming, outgoing);
      return;
    }
    let held = 0;
    let whenGone: (() => void) | undefined;
    outgoing.once('close', () => {
      done();
      answers -= held;
      if (!outgoing.writableFinished) whenGone?.();
    });
    const exchange: Exchange = {
      onGone: (act) => (whenGone = act),
      // Answers wait in memory for clients that take them slowly: all of them together have this much.
      hold: (bytes) => {
        if (bytes <= limits.small || outgoing.closed) return;
        if (answers > 0 && answers + bytes > limits.answers)
          throw fail('E_BUSY', 'the answers that others have not taken yet need all the room there is');
        held += bytes;
        answers += bytes;
      },
    };
    const answer = admitted
      ? answered(incoming, exchange).catch(refuse)
      : Promise.resolve(closing(refuse(tooMany(limits))));
    answer.then((each) => writeAnswer(outgoing, each)).catch(() => outgoing.destroy());
  });
  server.on('upgrade', (incoming, client, head) => {
    const { done } = connections.begin(incoming.socket);
    connections.spare(incoming.socket);
    client.once('close', done);
    try {
      bypass?.upgrade(incoming, client, head);
    } catch (error) {
      const { status, body } = refuse(error);
      endSocket(client, status, String(body ?? ''));
    }
  });
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
    const status = UNREADABLE[code] ?? '400 Bad Request';
    count('stemma_http_refused_total', { code: status.slice(0, 3) });
    if (code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`, () => socket.destroy());
  });
  return server;
};

/** What is said of a request that cannot be read as one. */
const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const tooMany = ({ perConnection }: GatewayLimits): Error =>
  fail('E_TOO_MANY_REQUESTS', `a connection may wait for ${perConnection} answers at a time`);

const closing = (answer: HttpAnswer): HttpAnswer => ({
  ...answer,
  headers: { ...answer.headers, connection: 'close' },
});

type Exchange = Pick<FrontRequest, 'onGone' | 'hold'>;

/** @throws E_USAGE for what names no address of this server */
const requestOf = (
  incoming: IncomingMessage,
  { onGone, hold }: Exchange,
): FrontRequest & { body: FrontRequest['body'] } => {
  const { method = 'GET', headers, socket: client } = incoming;
  const { host, target } = addressOf(incoming);
  const query = target.indexOf('?');
  return {
    method,
    host,
    target,
    path: query === -1 ? target : target.slice(0, query),
    header: (name) => headerText(headers[name]),
    headers: () => {
      const list: string[] = [];
      for (const [name, value] of Object.entries(headers))
        if (value !== undefined) list.push(name, headerText(value) ?? '');
      return list;
    },
    body: null,
    client,
    onGone,
    hold,
  };
};

/** The name and the path that were called: a proxy names both in the first line. */
const addressOf = ({ url = '/', headers }: IncomingMessage): { host: string; target: string } => {
  if (url.startsWith('/') && headers.host !== undefined && /^[\w.:[\]-]+$/.test(headers.host))
    return { host: headers.host, target: url };
  const parsed = URL.parse(url.startsWith('/') ? `http://${headers.host ?? ''}${url}` : url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw fail('E_USAGE', 'the request names no address of this server');
  return { host: parsed.host, target: parsed.pathname + parsed.search };
};

const lengthOf = ({ headers }: IncomingMessage): number | undefined => {
  const text = headers['content-length'];
  return text === undefined ? undefined : Number(text);
};
