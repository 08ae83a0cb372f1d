import { getRequestListener } from '@hono/node-server';
import { fail } from '@stemma/errors';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { boundConnections } from './connections.ts';
import { errorResponse } from './error-response.ts';
import type { GatewayLimits } from './limits.ts';
import { refuseMethod } from './methods.ts';
import { openBodyReader } from './read-body.ts';

/** What a server says of a request beside what the client says. */
export type Received = {
  /** The connection that it came on: the client, as far as it is known. */
  readonly client: object;
  /** The pieces of its body, which has arrived whole; null for a method without one. */
  readonly body: readonly Buffer[] | null;
};

/** What answers a request that was let in. The body of `request` itself is not to be read. */
export type Answering = (request: Request, received: Received) => Response | Promise<Response>;

/**
 * A server whose clients are held to limits before anything is made of what they send: method first, then the number of
 * bytes and of values, and how fast they come.
 */
export const openFront = (answering: Answering, limits: GatewayLimits): Server => {
  const server = createServer({
    headersTimeout: limits.headers,
    // Bodies have a rate of their own: a large one may take its time.
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 15_000,
  });
  const connections = boundConnections(server, limits);
  const readBody = openBodyReader(limits);

  const answered = async (request: Request, incoming: IncomingMessage): Promise<Response> => {
    refuseMethod(request.method, pathOf(incoming));
    const client = incoming.socket;
    if (request.method !== 'POST') return answering(request, { client, body: null });
    const { chunks, release } = await readBody(incoming, lengthOf(incoming));
    try {
      return await answering(request, { client, body: chunks });
    } finally {
      release();
    }
  };
  const listener = getRequestListener((request, env) =>
    answered(request, env.incoming as IncomingMessage).catch((error: unknown) => errorResponse(error)),
  );
  server.on('request', (incoming, outgoing) => {
    const { admitted, done } = connections.begin(incoming.socket);
    outgoing.once('close', done);
    if (admitted) void listener(incoming, outgoing);
    else {
      const refused = errorResponse(
        fail('E_TOO_MANY_REQUESTS', `a connection may wait for ${limits.perConnection} answers at a time`),
      );
      outgoing.writeHead(refused.status, { ...Object.fromEntries(refused.headers), connection: 'close' });
      void refused.text().then((text) => outgoing.end(text));
    }
  });
  return server;
};

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/';

const lengthOf = ({ headers }: IncomingMessage): number | undefined => {
  const text = headers['content-length'];
  return text === undefined ? undefined : Number(text);
};
