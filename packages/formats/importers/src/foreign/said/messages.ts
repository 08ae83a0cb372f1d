import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { anthropicMessages, CHAT_ROLES, geminiMessages, responsesMessages } from '@stemma/model-apis';
import { type Field, listOf, objectOf } from '../fields.ts';
import { parsedIn, textIn, withoutNulls, wordIn } from '../loose-values.ts';
import { aiSdkMessages, isAiSdk } from './ai-sdk.ts';
import { isLangChain, langChainMessage } from './langchain.ts';
import { isOtelParts, messagesOfParts } from './otel-parts.ts';
import { toolCallsIn } from './tool-calls.ts';

/**
 * The messages of a list as the chat API has them, in whatever form a library wrote them: chat, Anthropic's blocks, items of the
 * Responses API, Gemini's contents, LangChain's dumps, parts of the AI SDK, of OpenTelemetry, of OpenInference. A list in a
 * list (LangChain's batches of one) is that list. Null: it is no list of messages.
 */
export const messagesIn = (value: Field): readonly WideJsonObject[] | null => {
  const parsed = parsedIn(value);
  if (!Array.isArray(parsed) || parsed.length === 0) return null;
  const items = listOf(parsed);
  const [first] = items;
  if (items.length === 1 && Array.isArray(first)) return messagesIn(first);
  if (items.some(isItem)) return guarded(() => responsesMessages(undefined, items));
  const messages: WideJsonObject[] = [];
  for (const item of items) {
    const read = messagesOf(item);
    if (read === null) return null;
    messages.push(...read);
  }
  return messages;
};

const ITEMS: ReadonlySet<string> = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
  'item_reference',
]);

/** True for an item that only the Responses API has. */
const isItem = (item: WideJson): boolean =>
  isJsonObject(item) && item['role'] === undefined && ITEMS.has(textIn(item['type']) ?? '');

/** The messages that one value is (results of tools in it are messages of their own); null: it is none. */
export const messagesOf = (given: WideJson): readonly WideJsonObject[] | null => {
  const value = parsedIn(given);
  if (!isJsonObject(value)) return null;
  if (isLangChain(value)) {
    const message = langChainMessage(value);
    return message === null ? null : [message];
  }
  if (value['role'] === undefined)
    return isJsonObject(value['message']) ? messagesOf(value['message']) : null;
  const role = roleOf(value['role']);
  if (role === null) return null;
  const parts = listOf(value['parts']);
  if (parts.length > 0 && value['content'] === undefined)
    return isOtelParts(parts)
      ? messagesOfParts(role, parts)
      : guarded(() => geminiMessages(undefined, [value]));
  if (isOtelContent(value)) return messagesOfParts(role, listOf(value['content']));
  if (isAiSdk(value)) return aiSdkMessages({ ...value, role });
  if ((role === 'user' || role === 'assistant') && listOf(value['content']).some(isBlock))
    return guarded(() => anthropicMessages(undefined, [{ ...withoutNulls(value), role }]));
  return [chatMessageOf(value, role)];
};

/** What others call the roles of the chat API. */
const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant', model: 'assistant' };

const roleOf = (role: Field): string | null => {
  const name = textIn(role)?.toLowerCase() ?? '';
  if (CHAT_ROLES.has(name)) return name;
  return Object.hasOwn(ROLES, name) ? (ROLES[name] ?? null) : null;
};

const isOtelContent = ({ content }: WideJsonObject): boolean =>
  listOf(content).some(
    (part) =>
      isJsonObject(part) &&
      (part['type'] === 'tool_call' ||
        part['type'] === 'tool_call_response' ||
        (part['type'] === 'text' && typeof part['content'] === 'string')),
  );

const BLOCKS: ReadonlySet<string> = new Set(['tool_use', 'tool_result', 'thinking', 'redacted_thinking']);

/** True for a block that only Anthropic's API has. */
const isBlock = (part: WideJson): boolean => isJsonObject(part) && BLOCKS.has(textIn(part['type']) ?? '');

/** A message of the chat API: its calls are as that has them, and what is null is left out. */
const chatMessageOf = (value: WideJsonObject, role: string): WideJsonObject => {
  const { content = null, tool_calls: called, toolCalls, ...rest } = value;
  const calls = role === 'assistant' ? toolCallsIn(called ?? toolCalls) : [];
  const call = wordIn(rest['toolCallId']);
  const { toolCallId: _id, function_call: old = null, ...others } = rest;
  const isOldCall = Object.keys(objectOf(old)).length > 0;
  return {
    ...withoutNulls(others),
    role,
    content: textsIn(content),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(isOldCall && { function_call: old }),
    ...(role === 'tool' && call !== null && { tool_call_id: call }),
  };
};

/** Parts as the chat API has them: a bare text, and `{text}`, are text parts. */
const textsIn = (content: WideJson): WideJson => {
  if (!Array.isArray(content)) return content;
  return listOf(content).map((part) => {
    if (typeof part === 'string') return { type: 'text', text: part };
    if (isJsonObject(part) && part['type'] === undefined && typeof part['text'] === 'string')
      return { type: 'text', ...part };
    return part;
  });
};

/** What a reader of an API gives; null where it refuses the value. */
const guarded = (read: () => readonly WideJsonObject[]): readonly WideJsonObject[] | null => {
  try {
    return read();
  } catch (error) {
    if (isStemmaError(error)) return null;
    throw error;
  }
};
