import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Importer, ImporterOutput, Unit } from '../importer.ts';
import { openConversation, type ChatConversation } from './conversation.ts';
import { MAPPING } from './fields.ts';

/**
 * Message lists of the chat API (context-tree §9): a JSON array of messages, `{messages: […]}`, or JSON lines of
 * either, each line a conversation of its own; lines that are one message each are one conversation.
 */
export const openaiChat: Importer = {
  name: 'openai-chat',
  mapping: MAPPING,
  summary: 'message lists of the chat completions API: an array, {messages: […]}, or JSON lines of either',
  recognises: (first) =>
    Array.isArray(first) ? first.every(isJsonObject) : isMessages(first) || isMessage(first),
  read,
};

const isMessages = (value: WideJson): value is WideJsonObject & { readonly messages: readonly WideJson[] } =>
  isJsonObject(value) && Array.isArray(value['messages']);
const isMessage = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) && value['messages'] === undefined && value['role'] !== undefined;

async function* read(units: AsyncIterable<Unit>): AsyncIterable<ImporterOutput> {
  let lines: ChatConversation | null = null;
  let others = false;
  for await (const { value, where } of units) {
    const list = listOf(value);
    if (list === null ? others : lines !== null)
      throw fail(
        'E_INPUT_SHAPE',
        `${where}: lines are either messages of one conversation or conversations, not both`,
      );
    if (list === null) {
      lines ??= openConversation({});
      yield* lines.add(value, `${where}, message ${lines.size()}`);
    } else {
      others = true;
      const conversation = openConversation(list.besides);
      for (const message of list.messages)
        yield* conversation.add(message, `${where}, message ${conversation.size()}`);
      yield* conversation.end();
    }
  }
  if (lines !== null) yield* lines.end();
}

type List = { readonly messages: readonly WideJson[]; readonly besides: WideJsonObject };

/** The messages of a conversation and the fields beside them, or null for a value that can only be one message. */
const listOf = (value: WideJson): List | null => {
  if (Array.isArray(value)) return { messages: value as readonly WideJson[], besides: {} };
  if (!isMessages(value)) return null;
  const { messages, ...besides } = value;
  return { messages, besides };
};
