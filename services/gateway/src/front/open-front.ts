import { fail } from '@stemma/errors';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client } from '../answers.ts';
import type { Door, RequestHead, Route } from '../router.ts';
import type { HttpAnswer, StreamedAnswer } from './answer.ts';
import { endSocket } from './end-socket.ts';
import { boundConnections } from './connections.ts';
import { countRefusal, type CountAtDoor } from './door-counts.ts';
import { errorAnswer } from './error-answer.ts';
import { headerText } from './header-text.ts';
import { isProxied } from './is-proxied.ts';
import type { GatewayLimits } from './limits.ts';
import { openBodyReader } from './read-body.ts';
import { writeAnswer } from './write-answer.ts';

/** A request that was let in. */
export type FrontRequest = RequestHead & {
  /** All its headers, the names in lower case. */
  readonly headers: () => readonly (readonly [name: string, value: string])[];
  /** The pieces of its body, which has arrived whole; null for a method without one. */
  readonly body: readonly Buffer[] | null;
};

/** What the front lets requests in by, and what answers them. */
export type FrontDoor = {
  readonly find: Door['find'];
  readonly answer: (
    route: Route,
    request: FrontRequest,
    client: Client,
  ) => Promise<HttpAnswer | StreamedAnswer>;
};

/** What answers proxied requests, as they come: no limit on bodies or answers holds for them. */
export type Bypass = {
  /** True of what it answers besides paths under /proxy. */
  readonly takes?: (incoming: Pick<IncomingMessage, 'url'>) => boolean;
  /** Answers `CONNECT`; without it nobody does. */
  readonly connect?: (incoming: IncomingMessage, client: Duplex, head: Buffer) => void;
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** Answers one that asks for another protocol. @throws what the client is told */
  readonly upgrade: (incoming: IncomingMessage, client: Duplex, head: Buffer) => void;
};

/**
 * A server whose clients are held to limits before anything is made of what they send: method first, then the number of
 * bytes and of values, and how fast they come.
 */
export const openFront = (
  door: FrontDoor,
  limits: GatewayLimits,
  count: CountAtDoor = () => undefined,
  bypass?: Bypass,
): Server => {
  const isBypassed = (incoming: Pick<IncomingMessage, 'url'>): boolean =>
    isProxied(incoming) || bypass?.takes?.(incoming) === true;
  const server = createServer({
    headersTimeout: limits.headers,
    // Bodies have a rate of their own: a large one may take its time.
    requestTimeout: 0,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 15_000,
    // Nobody else speaks another protocol: their requests are answered as if they had not asked.
    shouldUpgradeCallback: ({ headers, method = '', url = '' }) =>
      method === 'GET' &&
      /^websocket$/i.test(headers.upgrade ?? '') &&
      bypass !== undefined &&
      isBypassed({ url }),
  });
  const connections = boundConnections(server, limits, count);
  const readBody = openBodyReader(limits);
  let answers = 0;

  const refuse = (error: unknown, { method = 'GET' }: IncomingMessage): HttpAnswer => {
    countRefusal(count, method, error);
    return errorAnswer(error);
  };
  const answered = async (
    incoming: IncomingMessage,
    client: Client,
  ): Promise<HttpAnswer | StreamedAnswer> => {
    const head = headOf(incoming);
    const route = door.find(head);
    const request = { ...head, headers: () => pairsOf(incoming) };
    if (head.method !== 'POST') return door.answer(route, { ...request, body: null }, client);
    const { chunks, release } = await readBody(incoming, lengthOf(incoming));
    try {
      return await door.answer(route, { ...request, body: chunks }, client);
    } finally {
      release();
    }
  };
  /** Answers wait in memory for clients that take them slowly: all of them together have this much room. @throws E_BUSY */
  const hold = (outgoing: ServerResponse, { body }: HttpAnswer): void => {
    const bytes = body === null ? 0 : Buffer.byteLength(body);
    if (bytes <= limits.small || outgoing.closed) return;
    if (answers > 0 && answers + bytes > limits.answers)
      throw fail('E_BUSY', 'the answers that others have not taken yet need all the room there is');
    answers += bytes;
    outgoing.once('close', () => (answers -= bytes));
  };
  const respond = async (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    client: Client,
  ): Promise<void> => {
    let answer: HttpAnswer | StreamedAnswer;
    try {
      answer = await answered(incoming, client);
      if (!('pieces' in answer)) hold(outgoing, answer);
    } catch (error) {
      answer = refuse(error, incoming);
    }
    await writeAnswer(outgoing, answer);
  };
  server.on('request', (incoming, outgoing) => {
    const { admitted, done } = connections.begin(incoming.socket);
    if (admitted && bypass !== undefined && isBypassed(incoming)) {
      connections.spare(incoming.socket);
      outgoing.once('close', done);
      bypass.handle(incoming, outgoing);
      return;
    }
    let whenGone: (() => void) | undefined;
    outgoing.once('close', () => {
      done();
      if (!outgoing.writableFinished) whenGone?.();
    });
    if (!admitted) {
      void writeAnswer(outgoing, closing(refuse(tooMany(limits), incoming)));
      return;
    }
    const client = clientOf(incoming.socket, (act) => (whenGone = act));
    respond(incoming, outgoing, client).catch(() => outgoing.destroy());
  });
  server.on('upgrade', (incoming, client, head) => {
    const { done } = connections.begin(incoming.socket);
    connections.spare(incoming.socket);
    client.once('close', done);
    try {
      bypass?.upgrade(incoming, client, head);
    } catch (error) {
      const { status, body } = refuse(error, incoming);
      endSocket(client, status, String(body ?? ''));
    }
  });
  const { connect } = bypass ?? {};
  if (connect !== undefined)
    server.on('connect', (incoming, client, head) => {
      const { done } = connections.begin(incoming.socket);
      connections.spare(incoming.socket);
      client.once('close', done);
      connect(incoming, client, head);
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

const clientOf = (socket: Socket, onGone: Client['onGone']): Client => ({
  connection: socket,
  ports: { remote: socket.remotePort ?? 0, local: socket.localPort ?? 0 },
  program: async () => '',
  onGone,
});

/** @throws E_USAGE for what names no address of this server */
const headOf = (incoming: IncomingMessage): RequestHead => {
  const { method = 'GET', headers } = incoming;
  return { method, ...addressOf(incoming), header: (name) => headerText(headers[name]) };
};

const pairsOf = ({ headers }: IncomingMessage): readonly (readonly [name: string, value: string])[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, headerText(value) ?? ''] as const],
  );

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
