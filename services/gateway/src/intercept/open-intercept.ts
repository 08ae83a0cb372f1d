import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endSocket } from '../front/end-socket.ts';
import type { CallRoute } from '../proxy/address.ts';
import type { Proxy } from '../proxy/open-proxy.ts';
import { upstreamError, upstreamErrorBody } from '../proxy/upstream-request.ts';
import { openAuthority, type AuthorityKeys } from './authority.ts';
import { connectTo } from './connect-to.ts';
import { forwardUnread } from './forward-unread.ts';
import {
  originOf,
  openReadHosts,
  urlOf,
  type ReadHosts,
  type InterceptedHosts,
  type ServerName,
} from './read-hosts.ts';

export type InterceptOptions = InterceptedHosts & {
  /** Where the calls are recorded. */
  readonly recordedIn: Pick<CallRoute, 'place' | 'run'>;
  /** What the command trusts. */
  readonly authority: AuthorityKeys;
  readonly proxy: Pick<Proxy, 'send' | 'pass'>;
  /** Hears that a connection to a host passes unread. */
  readonly tunnelled: (host: string) => void;
};

/** Answers what a command sends to a proxy: what goes to models is read and recorded, the rest passes unread. */
export type Intercept = {
  /** True of a request that names a whole address. */
  readonly takes: (incoming: Pick<IncomingMessage, 'url'>) => boolean;
  readonly request: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  readonly upgrade: (incoming: IncomingMessage, client: Duplex, head: Buffer) => void;
  /** Answers `CONNECT`. */
  readonly connect: (incoming: IncomingMessage, client: Duplex, head: Buffer) => void;
  /** Ends its connections. */
  readonly close: () => void;
};

/** Milliseconds that a connection without a request is kept: longer than clients keep it. */
const IDLE = 120_000;

/** What is no limit of ours: a client may take as long as its provider lets it. */
const UNLIMITED = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: IDLE, maxHeaderSize: 256 * 1024 };

/** The first byte of a connection that begins with TLS. */
const TLS_HANDSHAKE = 0x16;

export const openIntercept = (options: InterceptOptions): Intercept => {
  const intercepting = new Intercepting(options);
  return {
    takes: ({ url = '' }) => /^https?:\/\//i.test(url),
    request: (incoming, outgoing) => intercepting.request(incoming, outgoing),
    upgrade: (incoming, client, head) => intercepting.upgrade(incoming, client, head),
    connect: (incoming, client, head) => intercepting.connect(incoming, client as Socket, head),
    close: () => intercepting.close(),
  };
};

class Intercepting {
  readonly #options: InterceptOptions;
  readonly #hosts: ReadHosts;
  /** Made when the first host needs one: most of what a command sends needs none. */
  #certify: ReturnType<typeof openAuthority> | undefined;
  /** The servers that speak for hosts, by their addresses. */
  readonly #servers = new Map<string, Promise<Pick<Server, 'emit'>>>();
  readonly #sockets = new Set<Duplex>();

  constructor(options: InterceptOptions) {
    this.#options = options;
    this.#hosts = openReadHosts(options);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }

  /** A request that names a whole address: `POST http://127.0.0.1:11434/api/chat`. */
  request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const asked = askedOf(incoming);
    if (asked === undefined) {
      outgoing.writeHead(400, { 'content-type': 'text/plain', connection: 'close' });
      outgoing.end('this is a proxy: it takes CONNECT, and requests that name a whole address\n');
      return;
    }
    if (this.#hosts.isRead(asked.origin)) this.#send(asked.origin, asked.target, incoming, outgoing);
    else {
      this.#options.tunnelled(asked.origin.hostname);
      forwardUnread(incoming, outgoing, { upstream: urlOf(asked.origin), target: asked.target });
    }
  }

  upgrade(incoming: IncomingMessage, client: Duplex, head: Buffer): void {
    const asked = askedOf(incoming);
    if (asked === undefined) {
      endSocket(client, 400, 'this is a proxy');
      return;
    }
    if (!this.#hosts.isRead(asked.origin)) this.#options.tunnelled(asked.origin.hostname);
    this.#options.proxy.pass(incoming, client, head, this.#routeOf(asked.origin, asked.target));
  }

  /** A connection to a host: read if its calls are recorded, else passed on as it is. */
  connect(incoming: IncomingMessage, client: Socket, head: Buffer): void {
    this.#keep(client);
    const url = URL.parse(`https://${incoming.url ?? ''}`);
    if (url === null || url.pathname !== '/') {
      endSocket(client, 400, 'CONNECT names a host and a port');
      return;
    }
    const origin = originOf(url);
    if (!this.#hosts.isRead(origin)) {
      this.#tunnel(origin, client, head);
      return;
    }
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) client.unshift(head);
    const begin = (): void => {
      const first: unknown = client.read();
      // What ends before it says anything wants nothing.
      if (!Buffer.isBuffer(first)) return;
      client.off('readable', begin);
      client.unshift(first);
      const protocol = first[0] === TLS_HANDSHAKE ? 'https:' : 'http:';
      void this.#serverFor({ ...origin, protocol }).then(
        (server) => void server.emit('connection', client),
        () => client.destroy(),
      );
    };
    client.on('readable', begin);
  }

  #serverFor(origin: ServerName): Promise<Pick<Server, 'emit'>> {
    const key = urlOf(origin).href;
    const known = this.#servers.get(key) ?? this.#openServer(origin);
    this.#servers.set(key, known);
    return known;
  }

  async #openServer(origin: ServerName): Promise<Pick<Server, 'emit'>> {
    const send = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
      this.#send(origin, incoming.url ?? '/', incoming, outgoing);
    const pass = (incoming: IncomingMessage, client: Duplex, head: Buffer): void =>
      this.#options.proxy.pass(incoming, client, head, this.#routeOf(origin, incoming.url ?? '/'));
    if (origin.protocol === 'http:') return createServer(UNLIMITED, send).on('upgrade', pass);
    const certify = await (this.#certify ??= openAuthority(this.#options.authority));
    const { key, cert } = await certify(origin.hostname);
    const server = createSecureServer({ ...UNLIMITED, key, cert, allowHTTP1: true });
    // Node.js gives requests of HTTP/2 the form of those of HTTP/1.1.
    server.on('request', (incoming, outgoing) =>
      send(incoming as unknown as IncomingMessage, outgoing as unknown as ServerResponse),
    );
    server.on('upgrade', pass);
    server.on('tlsClientError', (_, socket: Duplex) => socket.destroy());
    server.on('sessionError', () => undefined);
    return server;
  }

  #routeOf(origin: ServerName, target: string): CallRoute {
    return { ...this.#options.recordedIn, ...this.#hosts.routeOf(origin, target) };
  }

  #send(origin: ServerName, target: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#options.proxy.send(incoming, outgoing, this.#routeOf(origin, target));
  }

  #tunnel(origin: ServerName, client: Socket, head: Buffer): void {
    this.#options.tunnelled(origin.hostname);
    connectTo(origin).then(
      (server) => {
        this.#keep(server);
        if (client.destroyed) {
          server.destroy();
          return;
        }
        client.once('close', () => server.destroy());
        server.once('close', () => client.destroy());
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        server.write(head);
        server.pipe(client);
        client.pipe(server);
      },
      (error: unknown) => {
        const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
        endSocket(client, 502, upstreamErrorBody(upstreamError(code)));
      },
    );
  }
}

/** What a request with a whole address asks of whom. */
const askedOf = ({
  url = '',
}: IncomingMessage): { readonly origin: ServerName; readonly target: string } | undefined => {
  const [, authority = '', target = ''] = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url) ?? [];
  const address = URL.parse(`${url.slice(0, url.indexOf(':')).toLowerCase()}://${authority}`);
  if (authority === '' || address === null) return undefined;
  return { origin: originOf(address), target: target.startsWith('/') ? target : `/${target}` };
};
