import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { anthropicMessages, openKnownPieces, type MessagePieces } from './anthropic/messages.ts';
import type { ModelApi } from './api-of.ts';
import { chatMessage } from './chat/message-at.ts';
import { guarded, isList, objectIn, recordable, textOrNull, type UnreadableBody } from './body.ts';
import { responsesMessages } from './responses/messages.ts';

/** A mapping of messages to those of OpenAI's chat API; changed, it gets another version. */
export type RequestMapping = 'openai.chat@1' | 'openai.responses@1' | 'anthropic.messages@1';

/** What a request says. */
export type ModelRequest = {
  readonly ok: true;
  /** Null if it names none. */
  readonly model: string | null;
  readonly stream: boolean;
  /** Every other field of the request, as it stands. */
  readonly parameters: WideJsonObject;
  readonly tools: readonly WideJson[];
  /** The messages in the form of OpenAI's chat API, which `recordCall` takes. */
  readonly messages: readonly WideJsonObject[];
  readonly mapping: RequestMapping;
  /** The earlier answer that it continues (`previous_response_id`), which the messages do not hold. */
  readonly previous: string | null;
};

type Shape = {
  readonly mapping: RequestMapping;
  /** The fields that the messages come from. */
  readonly fields: readonly string[];
  readonly messages: (body: WideJsonObject, pieces?: MessagePieces) => readonly WideJsonObject[];
};

const SHAPES: { readonly [api in Exclude<ModelApi, 'other'>]: Shape } = {
  'openai.chat': {
    mapping: 'openai.chat@1',
    fields: ['messages'],
    messages: ({ messages }) => {
      if (!isList(messages)) throw fail('E_INPUT_SHAPE', 'the request has no list of messages');
      return messages.map(chatMessage);
    },
  },
  'openai.responses': {
    mapping: 'openai.responses@1',
    fields: ['instructions', 'input'],
    messages: ({ instructions, input }) => responsesMessages(instructions, input),
  },
  'anthropic.messages': {
    mapping: 'anthropic.messages@1',
    fields: ['system', 'messages'],
    messages: ({ system, messages }, pieces) => anthropicMessages(system, messages, pieces),
  },
};

/** What the body of a request says, or why it cannot be read. Never throws, whatever the bytes are. */
export const readRequest = (api: ModelApi, bytes: Uint8Array): ModelRequest | UnreadableBody => {
  const read = guarded(() => requestIn(api, objectIn(bytes, 'the request')));
  return 'code' in read
    ? read
    : {
        ...read,
        parameters: recordable(read.parameters),
        tools: recordable(read.tools),
        messages: read.messages.map((message) => recordable(message)),
      };
};

/** As {@link readRequest}, of a value that `parseWideJson` read; its integers stay exact. */
export type RequestValueReader = (api: ModelApi, request: WideJson) => ModelRequest | UnreadableBody;

/** Messages that are the same objects in several requests become the same ones. */
export const openRequestValueReader = (): RequestValueReader => {
  const pieces = openKnownPieces();
  return (api, request) =>
    guarded(() => {
      if (!isJsonObject(request)) throw fail('E_INPUT_SHAPE', 'the request is not a JSON object');
      return requestIn(api, request, pieces);
    });
};

const requestIn = (api: ModelApi, body: WideJsonObject, pieces?: MessagePieces): ModelRequest => {
  if (api === 'other') throw fail('E_INPUT_SHAPE', 'the request calls no API whose requests are read');
  const { mapping, fields, messages } = SHAPES[api];
  const { model, stream, tools } = body;
  const taken = new Set(['model', 'stream', 'tools', ...fields]);
  return {
    ok: true,
    model: textOrNull(model),
    stream: stream === true,
    parameters: Object.fromEntries(Object.entries(body).filter(([name]) => !taken.has(name))),
    tools: toolsOf(tools),
    messages: messages(body, pieces),
    mapping,
    previous: api === 'openai.responses' ? textOrNull(body['previous_response_id']) : null,
  };
};

const toolsOf = (tools: WideJson | undefined): readonly WideJson[] => {
  if (tools === undefined || tools === null) return [];
  if (!isList(tools)) throw fail('E_INPUT_SHAPE', 'the tools are not a list');
  return tools;
};
