import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { CHAT_ROLES } from '@stemma/model-apis';
import { RESULT_ROLES } from './fields.ts';
import type { ChatMessage, RecordedBlock } from './message.ts';

/**
 * Adds a block that no importer wrote: a text becomes a message of its role, a call is added to the assistant's message
 * before it, a result becomes a `tool` message that names its call (`data_tool_call_id`, else the oldest call without
 * an answer).
 */
export const addManualBlock = (
  messages: ChatMessage[],
  waiting: Set<string>,
  block: RecordedBlock,
  before: RecordedBlock | undefined,
): void => {
  if (block.kind === 'call') {
    addCall(messages, waiting, block, before);
    return;
  }
  if (block.kind === 'result' || RESULT_ROLES.has(block.role ?? '')) {
    addResult(messages, waiting, block);
    return;
  }
  const role = block.role !== null && CHAT_ROLES.has(block.role) ? block.role : 'user';
  messages.push({ role, content: contentOf(block.payload), ...nameOf(block.payload) });
};

/** Notes which calls of a message wait for an answer, and which call it answers. */
export const trackCalls = (
  waiting: Set<string>,
  { tool_calls: calls, tool_call_id: answered }: ChatMessage,
): void => {
  if (typeof answered === 'string') waiting.delete(answered);
  if (!Array.isArray(calls)) return;
  for (const call of calls as readonly WideJson[])
    if (isJsonObject(call) && typeof call['id'] === 'string') waiting.add(call['id']);
};

const addCall = (
  messages: ChatMessage[],
  waiting: Set<string>,
  block: RecordedBlock,
  before: RecordedBlock | undefined,
): void => {
  const call = callOf(block);
  trackCalls(waiting, { tool_calls: [call] });
  const last = messages.at(-1);
  const continuesMessage = last?.['role'] === 'assistant' && before !== undefined && isManual(before);
  if (last === undefined || !continuesMessage) {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    return;
  }
  const calls = last['tool_calls'];
  last['tool_calls'] = [...(Array.isArray(calls) ? (calls as readonly WideJson[]) : []), call];
};

/** True for a block that an importer did not write: its message may still grow. */
const isManual = ({ payload }: RecordedBlock): boolean =>
  payload['data_message'] === undefined && payload['data_continues'] === undefined;

/** A call as the API takes it: recorded so, or made from `{name, arguments}` or from any other content. */
const callOf = ({ id, payload }: RecordedBlock): WideJsonObject => {
  const { content = {}, data_call_id: given } = payload;
  const known = isJsonObject(content) ? content : {};
  if (isJsonObject(known['function'])) return known;
  const name = [known['name'], payload['data_name'], 'unknown'].find((each) => typeof each === 'string');
  const input = known['arguments'] ?? content;
  return {
    id: [given, known['id'], id].find((each) => typeof each === 'string') as string,
    type: 'function',
    function: { name: name as string, arguments: typeof input === 'string' ? input : canonicalJson(input) },
  };
};

const addResult = (messages: ChatMessage[], waiting: Set<string>, { id, payload }: RecordedBlock): void => {
  const given = payload['data_tool_call_id'];
  const [oldest = id] = waiting;
  const call = typeof given === 'string' ? given : oldest;
  waiting.delete(call);
  messages.push({ role: 'tool', tool_call_id: call, content: contentOf(payload), ...nameOf(payload) });
};

/**
 * Texts and lists of parts unchanged; any other value as the text of its canonical JSON; no content as the empty text.
 */
const contentOf = ({ content = '' }: WideJsonObject): WideJson => {
  if (typeof content === 'string') return content;
  if (Array.isArray(content) && content.length > 0 && (content as readonly WideJson[]).every(isPart))
    return content as readonly WideJson[];
  return content === null ? '' : canonicalJson(content);
};

const isPart = (part: WideJson): boolean => isJsonObject(part) && typeof part['type'] === 'string';

const nameOf = ({ data_name: name }: WideJsonObject): ChatMessage =>
  typeof name === 'string' ? { name } : {};
