import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { CallUsage } from '@stemma/events';
import { CHAT_ROLES } from '@stemma/model-apis';
import { isOfParts, openPartsReader } from '../openai-chat/parts-to-messages.ts';
import { openChatItems, type ForeignCallFacts, type ChatItems } from './chat-items.ts';
import { countOf, isList, listOf, nonEmpty, objectOf, timeOf, timeOfSeconds, type Field } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Messages of the AI SDK: those of its pages, `{id, role, parts: [{type: 'text', text}, {type: 'tool-search', toolCallId, input, output}]}`,
 * and those it sends, `{role, content: [{type: 'tool-call', toolCallId, toolName, input}]}`. A list is a conversation, as is each object that holds
 * one as its `messages`; lines that are messages are one conversation. A message of a page is cut where a step begins (`step-start`): each step is
 * a call.
 */
export const aiSdk: ForeignReader = {
  name: 'ai-sdk',
  mapping: 'ai-sdk@1',
  summary: 'messages of the AI SDK: UIMessage, ModelMessage and CoreMessage lists',
  versions:
    'ai 3.4 to 6.0 (`toolInvocations`, `tool-invocation`, `tool-NAME`, `dynamic-tool`; `args`/`result` and `input`/`output`)',
  recognises: (first) => isConversation(first) || isMessage(first) || listOf(first).some(isConversation),
  takesItems: (first) => isJsonObject(first) && isList(first['messages']) && isConversation(first),
  async *read(units): AsyncIterable<ForeignItem> {
    let lines: Conversation | null = null;
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) throw fault;
      if (isJsonObject(value) && !isList(value['messages'])) {
        if (lines === null) yield { kind: 'conversation', key: null };
        lines ??= openConversation();
        yield* lines.add(value, where);
        continue;
      }
      const chats = isList(value) && value.some(holdsMessages) ? value : [value];
      for (const [index, chat] of chats.entries())
        yield* itemsOf(chat, chats.length === 1 ? where : `${where}, item ${index}`);
    }
  },
};

const holdsMessages = (value: WideJson): boolean => isJsonObject(value) && isList(value['messages']);

/** How many messages are looked at to recognise a conversation. */
const MOST_LOOKED_AT = 50;

const isConversation = (value: WideJson): boolean => {
  const messages = isJsonObject(value) ? value['messages'] : value;
  return isList(messages) && messages.slice(0, MOST_LOOKED_AT).some(isMessage);
};

/** True for a message that only the AI SDK has. */
const isMessage = (value: WideJson): boolean => {
  if (!isJsonObject(value)) return false;
  const { role, parts, content, toolInvocations } = value;
  if (typeof role !== 'string' || !CHAT_ROLES.has(role)) return false;
  if (isList(parts)) return parts.length > 0 && parts.every(isTyped);
  return (
    (isList(toolInvocations) && typeof content === 'string') || (parts === undefined && isOfParts(value))
  );
};

const isTyped = (part: WideJson): boolean => isJsonObject(part) && typeof part['type'] === 'string';

function* itemsOf(chat: WideJson, where: string): Iterable<ForeignItem> {
  const messages = isJsonObject(chat) ? chat['messages'] : chat;
  if (!isList(messages)) throw fail('E_INPUT_SHAPE', `${where} holds no list of messages`);
  const { title, name, messages: _messages, id: _id, ...besides } = objectOf(chat);
  yield { kind: 'conversation', key: null, title: nonEmpty(title) ?? nonEmpty(name) };
  for (const field of Object.keys(besides)) yield { kind: 'dropped', what: `field ${field.slice(0, 60)}` };
  const conversation = openConversation();
  for (const [index, message] of messages.entries())
    yield* conversation.add(message, `${where}, message ${index}`);
}

type Conversation = { readonly add: (message: WideJson, where: string) => Iterable<ForeignItem> };

const openConversation = (): Conversation => {
  const items = openChatItems();
  const readParts = openPartsReader();
  return {
    *add(value, where) {
      if (!isJsonObject(value) || typeof value['role'] !== 'string')
        throw fail('E_INPUT_SHAPE', `${where} is no message: it has no role`);
      if (!CHAT_ROLES.has(value['role']))
        throw fail(
          'E_ROLE_UNKNOWN',
          `${where} has the role ${JSON.stringify(value['role'].slice(0, 60))}, which the AI SDK does not have`,
        );
      const message = withParts(value);
      const states = listOf(message['parts']).filter(hasState).length;
      if (states > 0) yield { kind: 'dropped', what: 'field state of a text', count: states };
      const read = stepsOf(message).flatMap((step) => readParts(step));
      yield* itemsOfRead(read, factsOf(value), items);
    },
  };
};

/** What the file says of the message stands with its last answer: it is the sum of its steps, or that of the last. */
function* itemsOfRead(
  read: readonly WideJsonObject[],
  facts: ForeignCallFacts,
  items: ChatItems,
): Iterable<ForeignItem> {
  const last = read.findLastIndex(({ role }) => role === 'assistant');
  for (const [index, message] of read.entries()) {
    const { usage, finishReason, ...common } = facts;
    yield items.add(message, index === last ? { ...common, usage, finishReason } : common);
  }
}

/** Versions 3 and 4 repeat the text, the reasoning and the calls of a message beside its parts, or have no parts. */
const withParts = (message: WideJsonObject): WideJsonObject => {
  const { parts, content, toolInvocations, reasoning, ...rest } = message;
  if (isList(parts) && parts.length > 0) return { ...rest, parts };
  if (!isList(toolInvocations)) return { ...rest, ...(content === undefined ? { parts: [] } : { content }) };
  return {
    ...rest,
    parts: [
      ...(typeof reasoning === 'string' ? [{ type: 'reasoning', text: reasoning }] : []),
      ...toolInvocations.map((toolInvocation) => ({ type: 'tool-invocation', toolInvocation })),
      ...(typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []),
    ],
  };
};

const isStepStart = (part: WideJson): boolean => isJsonObject(part) && part['type'] === 'step-start';

/** The message in pieces, one for each step. What the page knows of a part (`state` of a text) is no part of what the model saw. */
const stepsOf = (message: WideJsonObject): readonly WideJsonObject[] => {
  const { parts, ...rest } = message;
  if (!isList(parts)) return [message];
  const steps: WideJson[][] = [[]];
  for (const part of parts)
    if (isStepStart(part)) steps.push([]);
    else steps.at(-1)?.push(imageOf(withoutState(part)));
  const filled = steps.filter(({ length }) => length > 0);
  if (filled.length === 0) return [{ ...rest, content: '' }];
  return filled.map((step, index) => ({
    ...(index === 0 ? rest : { role: rest['role'] ?? null }),
    parts: step,
  }));
};

const hasState = (part: WideJson): boolean =>
  isJsonObject(part) &&
  (part['type'] === 'text' || part['type'] === 'reasoning') &&
  part['state'] !== undefined;

/** A file that is an image, as the chat API has it. */
const imageOf = (part: WideJson): WideJson => {
  if (!isJsonObject(part) || part['type'] !== 'file') return part;
  const { type: _type, url, data, ...rest } = part;
  const kind = nonEmpty(rest['mediaType']) ?? nonEmpty(rest['mimeType']) ?? '';
  const at = nonEmpty(url) ?? (typeof data === 'string' ? `data:${kind};base64,${data}` : undefined);
  return kind.startsWith('image/') && at !== undefined
    ? { type: 'image_url', image_url: { url: at }, ...rest }
    : part;
};

const withoutState = (part: WideJson): WideJson => {
  if (!isJsonObject(part) || !hasState(part)) return part;
  const { state: _state, ...rest } = part;
  return rest;
};

/** The metadata of a message is the program's own; some names are common. */
const factsOf = (message: WideJsonObject): ForeignCallFacts => {
  const metadata = objectOf(message['metadata']);
  const { model, modelId, createdAt, usage, totalUsage, finishReason } = metadata;
  return {
    at: atOf(message['createdAt']) ?? atOf(createdAt),
    model: nonEmpty(model) ?? nonEmpty(modelId) ?? null,
    usage: usageOf(totalUsage ?? usage),
    finishReason: nonEmpty(finishReason) ?? null,
  };
};

const atOf = (value: Field): number | undefined =>
  timeOf(value) ?? (typeof value === 'number' && value > 1e11 ? Math.trunc(value) : timeOfSeconds(value));

const usageOf = (usage: Field): CallUsage | null => {
  if (!isJsonObject(usage)) return null;
  const { inputTokens, promptTokens, outputTokens, completionTokens, cachedInputTokens, reasoningTokens } =
    usage;
  const { cacheReadTokens, cacheWriteTokens } = objectOf(usage['inputTokenDetails']);
  const { reasoningTokens: reasoning } = objectOf(usage['outputTokenDetails']);
  const found = {
    input: countOf(inputTokens ?? promptTokens),
    output: countOf(outputTokens ?? completionTokens),
    cached: countOf(cacheReadTokens ?? cachedInputTokens),
    cacheWrite: countOf(cacheWriteTokens),
    reasoning: countOf(reasoning ?? reasoningTokens),
  };
  return Object.values(found).some((count) => count !== null) ? found : null;
};
