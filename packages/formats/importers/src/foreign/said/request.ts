import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { openRequestValueReader, type ModelApi } from '@stemma/model-apis';
import { type Field, listOf, objectOf } from '../fields.ts';
import { firstOf, parsedIn, textIn, wordIn } from '../loose-values.ts';
import { messagesIn, messagesOf } from './messages.ts';

/** What a recorded request says. */
export type RecordedRequest = {
  readonly messages: readonly WideJsonObject[];
  readonly model: string | null;
  readonly parameters: WideJsonObject;
  /** Null: it says nothing of them. */
  readonly tools: readonly WideJson[] | null;
  /** True if the messages are put together: of a prompt that is one text. */
  readonly isGuessed: boolean;
};

const NOTHING = { model: null, parameters: {}, tools: null, isGuessed: false } as const;

const FIELDS = ['messages', 'input', 'inputs', 'contents', 'prompt', 'prompts', 'kwargs', 'request', 'body'];

/**
 * What a model was asked, in any of the forms in which it is recorded: a list of messages, the body of a request (chat, Responses,
 * Anthropic, Gemini), one of these in a field such as `input`, one message, a text. Null: nothing of the kind.
 */
export const requestIn = (given: Field, depth = 4): RecordedRequest | null => {
  const value = parsedIn(given);
  if (value === undefined || value === null || depth === 0) return null;
  if (typeof value === 'string') return ofText(value);
  if (Array.isArray(value)) return ofList(listOf(value));
  if (!isJsonObject(value)) return null;
  const api = apiOfRequest(value);
  const body = api === null ? null : ofBody(api, value);
  if (body !== null) return body;
  const alone = value['role'] === undefined && value['lc'] === undefined ? null : messagesOf(value);
  if (alone !== null) return { ...NOTHING, messages: alone };
  for (const name of FIELDS) {
    const found = requestIn(value[name], depth - 1);
    if (found !== null) return withFieldsBeside(found, value, name);
  }
  return null;
};

const ofText = (text: string): RecordedRequest | null =>
  text === '' ? null : { ...NOTHING, messages: [{ role: 'user', content: text }], isGuessed: true };

const ofList = (items: readonly WideJson[]): RecordedRequest | null => {
  const [first] = items;
  if (items.length === 1 && typeof first === 'string') return ofText(first);
  const messages = messagesIn(items);
  return messages === null ? null : { ...NOTHING, messages };
};

/** The API whose request the object is, where only that has its form. */
const apiOfRequest = (body: WideJsonObject): ModelApi | null => {
  if (Array.isArray(body['contents'])) return 'gemini.generate';
  if (body['instructions'] !== undefined && body['input'] !== undefined) return 'openai.responses';
  if (Array.isArray(body['messages']) && body['system'] !== undefined && body['system'] !== null)
    return 'anthropic.messages';
  return null;
};

const ofBody = (api: ModelApi, body: WideJsonObject): RecordedRequest | null => {
  const read = openRequestValueReader()(api, body);
  if (!read.ok) return null;
  const { messages, parameters, tools, model } = read;
  return { messages, model, parameters, tools: tools.length === 0 ? null : tools, isGuessed: false };
};

/** What stands beside the messages: the system's prompt, the tools, the model, parameters. */
const withFieldsBeside = (found: RecordedRequest, value: WideJsonObject, name: string): RecordedRequest => {
  const { [name]: _, model, tools, functions, system, stream: _stream, ...rest } = value;
  const text = wordIn(system);
  const listed = listOf(firstOf(parsedIn(tools), parsedIn(functions)));
  const isBody = typeof model === 'string' || listed.length > 0 || name === 'messages';
  return {
    ...found,
    messages: text === null ? found.messages : [{ role: 'system', content: text }, ...found.messages],
    model: found.model ?? textIn(model),
    tools: found.tools ?? (listed.length > 0 ? listed : null),
    parameters: isBody
      ? { ...objectOf(rest['invocation_params']), ...found.parameters, ...plainOf(rest) }
      : found.parameters,
  };
};

/** Fields that hold the parameters of a call, and not what a library keeps beside them. */
const plainOf = (fields: WideJsonObject): WideJsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, item]) => item !== null && !FIELDS.includes(name) && name !== 'invocation_params',
    ),
  );
