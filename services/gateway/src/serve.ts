import { fail, isStemmaError, StemmaError, VERSION } from '@stemma/errors';
import { isLoopback } from '@stemma/machine';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { openMetrics } from '@stemma/metrics';
import { addDoorCounts, openDoorCounts } from './front/door-counts.ts';
import { LIMITS, type GatewayLimits } from './front/limits.ts';
import { openFront } from './front/open-front.ts';
import type { GatewayOptions } from './gateway.ts';
import { openHomeAnswers } from './home-answers.ts';
import { loopbackHosts } from './guard.ts';
import { openDoor } from './router.ts';

export type ServeOptions = Omit<GatewayOptions, 'hosts' | 'closing'> & {
  /** 0: any that is free; unless said, 7836 or the next that is free. */
  readonly port?: number;
  /** A loopback address; 127.0.0.1 unless said. */
  readonly host?: string;
  /** What clients are held to; see `LIMITS`. */
  readonly limits?: Partial<GatewayLimits>;
};

/** A gateway that listens. `close` ends live streams, lets requests finish for 5 s at most, and frees the port. */
export type Gateway = { readonly url: string; readonly port: number; close(): Promise<void> };

/**
 * The default port of a gateway: the first letters of its name on the keys of a telephone. If it is taken, the gateway uses
 * one of the next ports.
 */
export const DEFAULT_PORT = 7836;
const PORTS_TRIED = 20;

/**
 * Opens the HTTP door of a home that this thread holds, on an address of this machine. For homes that may be asked for
 * much there is `serveHome`.
 *
 * @throws E_NOT_ALLOWED for any other address: the gateway does not authenticate, so every client that reaches the
 *   port may read and write everything. E_ADDRESS_IN_USE.
 */
export const serveGateway = async ({ port, host, limits, ...options }: ServeOptions): Promise<Gateway> => {
  const closing = new AbortController();
  let hosts: (name: string) => boolean = () => false;
  const metrics = options.metrics ?? openMetrics({ service: 'gateway', version: VERSION, ofProcess: false });
  const { count, take } = openDoorCounts();
  metrics.beforeScrape(() => addDoorCounts(metrics, take()));
  const answers = openHomeAnswers({ ...options, metrics, closing: closing.signal });
  const door = openDoor(answers, (name) => hosts(name));
  const open = (): Server => openFront(door, { ...LIMITS, ...limits }, count);
  const listening = await listenOn(open, { port, host });
  hosts = listening.hosts;
  return {
    port: listening.port,
    url: listening.url,
    close: async () => {
      closing.abort();
      await listening.close();
    },
  };
};

/** A server that listens, and the values of `Host` that are its own. `close` lets requests finish for 5 s at most. */
type ListeningServer = Gateway & { readonly hosts: (host: string) => boolean };

/** @throws E_NOT_ALLOWED, E_ADDRESS_IN_USE */
export const listenOn = async (
  open: () => Server,
  { port, host = '127.0.0.1' }: { readonly port: number | undefined; readonly host: string | undefined },
): Promise<ListeningServer> => {
  if (!isLoopback(host))
    throw fail(
      'E_NOT_ALLOWED',
      `there is no authentication yet, so the gateway listens on addresses of this machine only (127.0.0.1, ::1), not on ${host}`,
      { host },
    );
  const hostname = host === 'localhost' ? '127.0.0.1' : host.replace(/^\[|\]$/g, '');
  const { server, actual } = await listen(open, hostname, port);
  return {
    port: actual,
    url: `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${actual}`,
    hosts: loopbackHosts(actual),
    close: () => closed(server),
  };
};

type Listening = { readonly server: Server; readonly actual: number };

const listen = async (open: () => Server, hostname: string, port: number | undefined): Promise<Listening> => {
  const last = port ?? DEFAULT_PORT + PORTS_TRIED - 1;
  for (let tried = port ?? DEFAULT_PORT; ; tried++)
    try {
      const server = open().listen(tried, hostname);
      return { server, actual: await listening(server, tried) };
    } catch (error) {
      if (tried >= last || !isStemmaError(error, 'E_ADDRESS_IN_USE')) throw error;
    }
};

const listening = async (server: Server, port: number): Promise<number> => {
  try {
    if (!server.listening) await once(server, 'listening');
  } catch (error) {
    const known = error instanceof Error && 'code' in error ? error.code : undefined;
    if (known === 'EADDRINUSE')
      throw new StemmaError('E_ADDRESS_IN_USE', `port ${port} is in use`, { port }, { cause: error });
    throw new StemmaError('E_IO', `cannot listen on port ${port}`, { port }, { cause: error });
  }
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
};

const closed = async (server: Server): Promise<void> => {
  const done = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection becomes idle when its stream has ended or its request is answered, and would be kept alive.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const late = new AbortController();
  await Promise.race([done, wait(5_000, undefined, { signal: late.signal }).catch(() => undefined)]);
  late.abort();
  clearInterval(sweep);
  server.closeAllConnections();
};
