import { fail, isStemmaError, StemmaError } from '@stemma/errors';
import { isLoopback } from '@stemma/machine';
import type { SendHandle } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { hostText } from './host-text.ts';
import { loopbackHosts } from '../guard.ts';

/** A gateway that listens. `close` ends live streams, lets requests finish for 5 s at most, and frees the port. */
export type Gateway = { readonly url: string; readonly port: number; close(): Promise<void> };

/**
 * The default port of a gateway: the first letters of its name on the keys of a telephone. If it is taken, the gateway uses
 * one of the next ports.
 */
export const DEFAULT_PORT = 7836;
const PORTS_TRIED = 20;

/** A server that listens, and the values of `Host` that are its own. `close` lets requests finish for 5 s at most. */
type ListeningServer = Gateway & { readonly hosts: (host: string) => boolean; readonly server: Server };

export type ListenOptions = {
  readonly port: number | undefined;
  readonly host: string | undefined;
  /** A socket that listens already, of another process. */
  readonly socket?: SendHandle;
};

/** @throws E_NOT_ALLOWED, E_ADDRESS_IN_USE */
export const listenOn = async (
  open: () => Server,
  { port, host = '127.0.0.1', socket }: ListenOptions,
): Promise<ListeningServer> => {
  if (!isLoopback(host))
    throw fail(
      'E_NOT_ALLOWED',
      `there is no authentication yet, so the gateway listens on addresses of this machine only (127.0.0.1, ::1), not on ${host}`,
      { host },
    );
  const hostname = host === 'localhost' ? '127.0.0.1' : host.replace(/^\[|\]$/g, '');
  const { server, actual } =
    socket === undefined ? await listen(open, hostname, port) : await listenAt(open().listen(socket), 0);
  return {
    server,
    port: actual,
    url: `http://${hostText(hostname)}:${actual}`,
    hosts: loopbackHosts(actual),
    close: () => closed(server),
  };
};

type Listening = { readonly server: Server; readonly actual: number };

const listen = async (open: () => Server, hostname: string, port: number | undefined): Promise<Listening> => {
  const last = port ?? DEFAULT_PORT + PORTS_TRIED - 1;
  for (let tried = port ?? DEFAULT_PORT; ; tried++)
    try {
      return await listenAt(open().listen(tried, hostname), tried);
    } catch (error) {
      if (tried >= last || !isStemmaError(error, 'E_ADDRESS_IN_USE')) throw error;
    }
};

const listenAt = async (server: Server, port: number): Promise<Listening> => {
  try {
    if (!server.listening) await once(server, 'listening');
  } catch (error) {
    const known = error instanceof Error && 'code' in error ? error.code : undefined;
    if (known === 'EADDRINUSE')
      throw new StemmaError('E_ADDRESS_IN_USE', `port ${port} is in use`, { port }, { cause: error });
    throw new StemmaError('E_IO', `cannot listen on port ${port}`, { port }, { cause: error });
  }
  const address = server.address();
  return { server, actual: typeof address === 'object' && address !== null ? address.port : port };
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
