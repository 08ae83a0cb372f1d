import { getRequestListener } from '@hono/node-server';
import { fail, isStemmaError } from '@stemma/errors';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { boundConnections } from './connections.ts';
import type { CountAtDoor } from './door-counts.ts';
import { errorResponse } from './error-response.ts';
import type { GatewayLimits } from './limits.ts';
import { refuseMethod } from './methods.ts';
import { openBodyReader } from './read-body.ts';

/** What a server says of a request beside what the client says. */
export type Received = {
  /** The connection that it came on: the client, as far as it is known. */
  readonly client: Socket;
  /** Takes room for the bytes of an answer, until the client has them. @throws E_BUSY when others hold all of it */
  readonly hold: (bytes: number) => void;
  /** The pieces of its body, which has arrived whole; null for a method without one. */
  readonly body: readonly Buffer[] | null;
};

/** What answers a request that was let in. The body of `request` itself is not to be read. */
export type Answering = (request: Request, received: Received) => Response | Promise<Response>;

/**
 * A server whose clients are held to limits before anything is made of what they send: method first, then the number of
 * bytes and of values, and how fast they come.
 */
export const openFront = (
  answering: Answering,
  limits: GatewayLimits,
  count: CountAtDoor = () => undefined,
): Server => {
  const server = createServer({
    headersTimeout: limits.headers,
    // Bodies have a rate of their own: a large one may take its time.
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 15_000,
  });
  const connections = boundConnections(server, limits, count);
  const readBody = openBodyReader(limits);
  let answers = 0;

  /** Answers wait in memory for clients that take them slowly: all of them together have this much. */
  const roomFor = (outgoing: ServerResponse): Received['hold'] => {
    let held = 0;
    outgoing.once('close', () => (answers -= held));
    return (bytes) => {
      if (bytes <= limits.small || outgoing.closed) return;
      if (answers > 0 && answers + bytes > limits.answers)
        throw fail('E_BUSY', 'the answers that others have not taken yet need all the room there is');
      held += bytes;
      answers += bytes;
    };
  };
  const refuse = (error: unknown): Response => {
    count('stemma_http_refused_total', { code: isStemmaError(error) ? error.code : 'E_INTERNAL' });
    return errorResponse(error);
  };

  const answered = async (
    request: Request,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<Response> => {
    refuseMethod(request.method, pathOf(incoming));
    const client = incoming.socket;
    const hold = roomFor(outgoing);
    if (request.method !== 'POST') return answering(request, { client, hold, body: null });
    const { chunks, release } = await readBody(incoming, lengthOf(incoming));
    try {
      return await answering(request, { client, hold, body: chunks });
    } finally {
      release();
    }
  };
  const listener = getRequestListener(
    (request, { incoming, outgoing }) =>
      answered(request, incoming as IncomingMessage, outgoing as ServerResponse).catch(refuse),
    { errorHandler: () => refuse(fail('E_USAGE', 'the request names no address of this server')) },
  );
  server.on('request', (incoming, outgoing) => {
    const { admitted, done } = connections.begin(incoming.socket);
    outgoing.once('close', done);
    if (admitted) void listener(incoming, outgoing);
    else {
      const refused = refuse(
        fail('E_TOO_MANY_REQUESTS', `a connection may wait for ${limits.perConnection} answers at a time`),
      );
      outgoing.writeHead(refused.status, { ...Object.fromEntries(refused.headers), connection: 'close' });
      void refused.text().then((text) => outgoing.end(text));
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

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';

const lengthOf = ({ headers }: IncomingMessage): number | undefined => {
  const text = headers['content-length'];
  return text === undefined ? undefined : Number(text);
};
