import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ScriptedBody } from './script.ts';
import { chatCompletion } from './scripted-chat.ts';
import { message } from './scripted-messages.ts';
import { response } from './scripted-responses.ts';

/** A call as the provider saw and answered it. */
export type ProviderCall = {
  readonly path: string;
  readonly request: Buffer;
  readonly response: Buffer;
};

export type ScriptedProvider = {
  readonly url: string;
  /** The calls since it was asked last. */
  readonly take: () => ProviderCall[];
  /** Paths that it does not have and was asked for. */
  readonly unknown: readonly string[];
  close(): Promise<void>;
};

const APIS: Readonly<Record<string, (request: unknown, number: number) => ScriptedBody>> = {
  '/v1/chat/completions': chatCompletion,
  '/v1/responses': response,
  '/v1/messages': message,
};

/** Bytes of a stream that are written at a time: no event and no character ends there. */
const PIECE = 101;

/** A server on this machine that speaks the APIs of OpenAI and Anthropic, and remembers the bytes of each call. */
export const startProvider = async (): Promise<ScriptedProvider> => {
  let calls: ProviderCall[] = [];
  let number = 0;
  const unknown: string[] = [];
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const [path = ''] = (incoming.url ?? '').split('?', 1);
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const request = Buffer.concat(pieces);
    const api = incoming.method === 'POST' ? APIS[path] : undefined;
    if (api === undefined) {
      unknown.push(`${incoming.method ?? ''} ${path}`);
      outgoing.writeHead(404).end();
      return;
    }
    const { contentType, body } = api(JSON.parse(request.toString()), ++number);
    const isStream = contentType.startsWith('text/event-stream');
    const isCoded = !isStream && String(incoming.headers['accept-encoding']).includes('gzip');
    const bytes = isCoded ? gzipSync(body) : Buffer.from(body);
    calls.push({ path, request, response: bytes });
    outgoing.writeHead(200, {
      'content-type': contentType,
      'x-request-id': `req_${number}`,
      ...(isCoded && { 'content-encoding': 'gzip' }),
      ...(!isStream && { 'content-length': bytes.length }),
    });
    for (let at = 0; at < bytes.length; at += PIECE) {
      outgoing.write(bytes.subarray(at, at + PIECE));
      if (isStream) await turn();
    }
    outgoing.end();
  };
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing).catch(() => outgoing.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    unknown,
    take: () => {
      const taken = calls;
      calls = [];
      return taken;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
