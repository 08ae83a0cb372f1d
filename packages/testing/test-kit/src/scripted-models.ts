import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the server got it. */
export type ModelCall = {
  readonly path: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The body as JSON; null: it is none. */
  readonly asked: { readonly [name: string]: unknown } | null;
};

/** What the server does with its n-th request, counted from 1. */
export type ModelScript = (
  call: ModelCall,
  n: number,
  outgoing: ServerResponse,
  incoming: IncomingMessage,
) => unknown;

export type ScriptedModels = {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly calls: readonly ModelCall[];
  close(): Promise<void>;
};

/** A server on this machine that answers as a script says, in whatever API it is called. */
export const startModels = async (script: ModelScript): Promise<ScriptedModels> => {
  const calls: ModelCall[] = [];
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      const body = Buffer.concat(pieces);
      const call = {
        path: incoming.url ?? '',
        rawHeaders: incoming.rawHeaders,
        body,
        asked: objectIn(body),
      };
      const n = calls.push(call);
      void script(call, n, outgoing, incoming);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

const objectIn = (body: Buffer): ModelCall['asked'] => {
  try {
    return JSON.parse(body.toString()) as ModelCall['asked'];
  } catch {
    return null;
  }
};

/** What a scripted model says: a text, calls of tools, or both. */
export type ScriptedAnswer = {
  readonly text?: string;
  readonly tools?: readonly { readonly id: string; readonly name: string; readonly input: object }[];
  /** Why it stops, in the word of the API. */
  readonly reason?: string;
  readonly tokens?: readonly [input: number, output: number];
};

/** Answers a call in the API that its path names, with the model that it names. */
export const sendAnswer = (
  { path, asked }: ModelCall,
  outgoing: ServerResponse,
  said: ScriptedAnswer,
): void => {
  const model = typeof asked?.['model'] === 'string' ? asked['model'] : 'm';
  const bodyIn = path.endsWith('/messages')
    ? anthropicBody
    : path.endsWith('/responses')
      ? responsesBody
      : chatBody;
  sendJson(outgoing, 200, bodyIn(model, said));
};

export const sendJson = (
  outgoing: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void => {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
  outgoing.end(JSON.stringify(body));
};

const chatBody = (model: string, { text, tools = [], reason, tokens = [12, 3] }: ScriptedAnswer): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: text ?? null,
        refusal: null,
        ...(tools.length === 0
          ? {}
          : {
              tool_calls: tools.map(({ id, name, input }) => ({
                id,
                type: 'function',
                function: { name, arguments: JSON.stringify(input) },
              })),
            }),
      },
      finish_reason: reason ?? (tools.length === 0 ? 'stop' : 'tool_calls'),
    },
  ],
  usage: {
    prompt_tokens: tokens[0],
    completion_tokens: tokens[1],
    total_tokens: tokens[0] + tokens[1],
  },
});

const anthropicBody = (
  model: string,
  { text, tools = [], reason, tokens = [12, 3] }: ScriptedAnswer,
): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...tools.map((tool) => ({ type: 'tool_use', ...tool })),
  ],
  stop_reason: reason ?? (tools.length === 0 ? 'end_turn' : 'tool_use'),
  stop_sequence: null,
  usage: { input_tokens: tokens[0], output_tokens: tokens[1] },
});

const responsesBody = (model: string, { text, tools = [], tokens = [12, 3] }: ScriptedAnswer): object => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model,
  output: [
    ...(text === undefined
      ? []
      : [
          {
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...tools.map(({ id, name, input }) => ({
      id: `fc_${id}`,
      type: 'function_call',
      status: 'completed',
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
  ],
  usage: { input_tokens: tokens[0], output_tokens: tokens[1], total_tokens: tokens[0] + tokens[1] },
});
