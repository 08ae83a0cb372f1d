import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { fail, isStemmaError } from '@stemma/errors';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Context } from '../command.ts';
import { openMcpServer, type McpOptions } from './mcp-server.ts';

/** Clients that are served at a time; of more, the one that asked longest ago has to begin anew. */
const MOST_CLIENTS = 64;
const PATH = '/mcp';

/** Serves any number of clients over HTTP, on this machine only, until the signal aborts. */
export const serveHttp = async (
  { output, signal }: Pick<Context, 'output' | 'signal'>,
  port: number,
  options: McpOptions,
): Promise<void> => {
  const { listenOn, refuseForeign } = await import('@stemma/gateway');
  const clients = openClients(options);
  let isOwn: (host: string) => boolean = () => false;
  const open = (): Server =>
    createServer((incoming, outgoing) => {
      const { headers, url = '/' } = incoming;
      const path = url.split('?')[0] ?? '/';
      try {
        const header = (name: string): string | undefined => [headers[name]].flat()[0];
        refuseForeign({ host: headers.host ?? '', path, header }, isOwn);
        if (path !== PATH) throw fail('E_NOT_FOUND', `clients ask at ${PATH}`);
      } catch (error) {
        refuse(outgoing, error);
        return;
      }
      clients.handle(incoming, outgoing).catch((error: unknown) => refuse(outgoing, error));
    });
  const listening = await listenOn(open, { port, host: '127.0.0.1' });
  const url = listening.url + PATH;
  isOwn = (host) => listening.hosts(host);
  await output.result({ url }, () => `Clients find Stemma at ${url} (stop with Ctrl-C)\n`);
  if (!signal.aborted) await once(signal, 'abort');
  await clients.close();
  await listening.close();
};

/** As the protocol says errors that answer no request. */
const refuse = (outgoing: ServerResponse, reason: unknown): void => {
  const known = isStemmaError(reason) ? reason : fail('E_INTERNAL', 'the request could not be answered');
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  outgoing.writeHead(known.row.status, { 'content-type': 'application/json' });
  const error = { code: -32_000, message: known.message, data: { code: known.code } };
  outgoing.end(`${JSON.stringify({ jsonrpc: '2.0', error, id: null })}\n`);
};

type Clients = {
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** The clients by the sessions that the protocol gives them. */
const openClients = (options: McpOptions): Clients => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const start = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const [oldest] = sessions;
        sessions.set(id, transport);
        if (sessions.size > MOST_CLIENTS && oldest !== undefined) void oldest[1].close();
      },
    });
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
    };
    await openMcpServer(options).connect(transport);
    return transport;
  };
  return {
    handle: async (incoming, outgoing) => {
      const id = [incoming.headers['mcp-session-id']].flat()[0];
      const known = id === undefined ? undefined : sessions.get(id);
      // A client that is answered so begins a new session.
      if (id !== undefined && known === undefined) throw fail('E_NOT_FOUND', 'the session has ended');
      if (known !== undefined && id !== undefined) {
        sessions.delete(id);
        sessions.set(id, known);
      }
      await (known ?? (await start())).handleRequest(incoming, outgoing);
    },
    close: async () => {
      for (const transport of [...sessions.values()]) await transport.close();
    },
  };
};
