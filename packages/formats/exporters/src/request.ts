import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { CallApi } from '@stemma/events';
import { fitRequest, isFailedResult, readRequest, writeRequest } from '@stemma/model-apis';
import { kindOfPart, listOf, objectOf, partsOf } from './fields.ts';
import type { Losses } from './losses.ts';

/** The APIs that a call is written for, by the value of `--format`. */
export const REQUEST_FORMATS = {
  openai: { api: 'openai.chat', summary: "a request to OpenAI's chat completions" },
  responses: { api: 'openai.responses', summary: "a request to OpenAI's Responses" },
  anthropic: { api: 'anthropic.messages', summary: "a request to Anthropic's Messages" },
  gemini: { api: 'gemini.generate', summary: "a request to Gemini's generateContent" },
} as const;

export type RequestFormat = keyof typeof REQUEST_FORMATS;

export const isRequestFormat = (name: string): name is RequestFormat => Object.hasOwn(REQUEST_FORMATS, name);

/** What is asked. */
export type RequestToExport = {
  /** Of its parameters and tools. */
  readonly api: CallApi;
  readonly model: string | null;
  readonly parameters: WideJson;
  readonly tools: readonly WideJson[] | null;
  /** As the chat API has them. */
  readonly messages: readonly WideJsonObject[];
};

/**
 * The body of a request that asks the same of an API. What the API has no place for is added to `lost`.
 *
 * @throws E_INPUT_SHAPE for messages that the API cannot be asked with, E_USAGE where nobody says which model is asked
 */
export const requestFor = (format: RequestFormat, asked: RequestToExport, lost: Losses): Uint8Array => {
  const { api } = REQUEST_FORMATS[format];
  const { messages, model } = asked;
  if (model === null && format !== 'gemini')
    throw fail('E_USAGE', 'no call is recorded here that says which model is asked: name one with --model');
  const { parameters, tools, dropped } = fitRequest(asked.api, api, {
    parameters: objectOf(asked.parameters),
    tools: asked.tools ?? [],
  });
  for (const name of dropped)
    lost.add(name.startsWith('tools[') ? 'tool that runs at its provider' : `parameter ${name}`);
  const body = writeRequest(api, { model: model ?? '', messages, parameters, tools });
  const read = readRequest(api, body);
  if (!read.ok) throw fail('E_INPUT_SHAPE', `a request to ${api} cannot say this: ${read.reason}`);
  const kept = kindsIn(read.messages);
  for (const [kind, count] of kindsIn(messages)) lost.add(kind, count - (kept.get(kind) ?? 0));
  return body;
};

/** How many of each kind of thing messages say. */
const kindsIn = (messages: readonly WideJsonObject[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  const add = (kind: string, count = 1): void => void counts.set(kind, (counts.get(kind) ?? 0) + count);
  for (const message of messages) {
    const { role, content, tool_calls: calls, function_call: old, name } = message;
    add('tool call', listOf(calls).length + (isJsonObject(old) ? 1 : 0));
    if (role === 'tool' || role === 'function') add('result of a tool');
    else if (role === 'system' || role === 'developer') add('system message');
    if (role === 'user' && name !== undefined) add('name of a message');
    if (isFailedResult(message)) add('mark of a failed result');
    for (const part of partsOf(content)) if (kindOfPart(part) !== 'text') add(nameOf(part));
  }
  return counts;
};

const nameOf = (part: WideJsonObject): string => {
  const kind = kindOfPart(part);
  return kind === 'thinking' || kind === 'image' ? kind : `part ${kind}`;
};
