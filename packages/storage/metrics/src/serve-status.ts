import { errorToJson, fail, isStemmaError, StemmaError } from '@stemma/errors';
import { isLoopback } from '@stemma/machine';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkReady } from './health.ts';
import type { Metrics } from './metrics.ts';

export type StatusOptions = {
  readonly metrics: Metrics;
  /** 0: any free port. */
  readonly port: number;
  /** A loopback address; default 127.0.0.1. */
  readonly host?: string;
  /** Throws while the service cannot do its work; `/health/ready` shows the reason. */
  readonly ready: () => Promise<void> | void;
};

/** A status server that listens. */
export type StatusServer = { readonly url: string; readonly port: number; close(): Promise<void> };

/**
 * Serves the status of a service that has no HTTP server otherwise: `/health/live`, `/health/ready` (503 with the reason)
 * and `/metrics`.
 *
 * @throws E_NOT_ALLOWED for an address that other machines can reach, E_ADDRESS_IN_USE
 */
export const serveStatus = async (options: StatusOptions): Promise<StatusServer> => {
  const { port, host = '127.0.0.1' } = options;
  if (!isLoopback(host))
    throw fail(
      'E_NOT_ALLOWED',
      `the server has no authentication, so it must not listen on ${host}: use a loopback address`,
      { host },
    );
  const server = createServer((request, response) => void answer(options, request, response));
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new StemmaError('E_ADDRESS_IN_USE', `port ${port} is in use`, { port }, { cause: error });
  }
  const actual = (server.address() as AddressInfo).port;
  return {
    port: actual,
    url: `http://${host}:${actual}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

const answer = async (
  { metrics, ready }: StatusOptions,
  { method, url = '/', headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const json = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  };
  try {
    // DNS rebinding: a foreign page can point its own name at this address, so that the browser asks here.
    if (!isLoopback((headers.host ?? '').replace(/:\d+$/, '')))
      throw fail('E_NOT_ALLOWED', 'this server answers to the names of this machine only');
    const path = url.split('?', 1)[0] ?? '/';
    if (method !== 'GET' && method !== 'HEAD') throw fail('E_NOT_FOUND', 'this server answers only GET');
    if (path === '/health/live') json(200, { status: 'ok' });
    else if (path === '/health/ready') {
      await checkReady(ready);
      json(200, { status: 'ready' });
    } else if (path === '/metrics') {
      const text = await metrics.text();
      response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' });
      response.end(text);
    } else throw fail('E_NOT_FOUND', `there is no page at ${path.slice(0, 200)}`);
  } catch (error) {
    json(isStemmaError(error) ? error.row.status : 500, errorToJson(error));
  }
};
