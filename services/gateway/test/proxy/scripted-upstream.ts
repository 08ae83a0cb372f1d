import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the upstream got it. */
export type Received = {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
};

/** What the upstream does with a request, by the model that it names. */
export type Script = (received: Received, outgoing: ServerResponse, incoming: IncomingMessage) => unknown;

export type Upstream = {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
};

/** A server on this machine that answers as a script says. */
export const startUpstream = async (script: Script): Promise<Upstream> => {
  const received: Received[] = [];
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('end', () => {
      const { method = '', url = '', rawHeaders } = incoming;
      const one = { method, url, rawHeaders, body: Buffer.concat(pieces) };
      received.push(one);
      void script(one, outgoing, incoming);
    });
    incoming.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** The text that a scripted model answers to a chat. */
export const chatAnswer = (text: string, model = 'm-1'): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 },
  });

/** The events of a streamed chat answer. */
export const chatEvents = (words: readonly string[], model = 'm-1'): string[] => [
  ...words.map(
    (content) =>
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model, choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })}\n\n`,
  ),
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`,
  'data: [DONE]\n\n',
];
