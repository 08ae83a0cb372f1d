import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { Importer, ImporterOutput, Unit } from '../importer.ts';
import { findConversations, holdsConversations } from './find-conversations.ts';
import { openConversation, type ChatConversation } from './conversation.ts';
import { MAPPING } from './fields.ts';

/**
 * Message lists of the chat API (context-tree §9): a JSON array of messages, an object that holds one (`{messages: […]}`), an
 * array of either, or JSON lines of either, each line a conversation of its own; lines that are one message each are one
 * conversation.
 */
export const openaiChat: Importer = {
  name: 'openai-chat',
  mapping: MAPPING,
  summary:
    'message lists of the chat completions API: an array, an object that holds one, arrays or JSON lines of either',
  recognises: (first) => holdsConversations(first) || isMessage(first),
  read,
};

const isMessage = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) && value['role'] !== undefined;

async function* read(units: AsyncIterable<Unit>): AsyncIterable<ImporterOutput> {
  let lines: ChatConversation | null = null;
  let others = false;
  for await (const { value, where } of units) {
    const found = findConversations(value, where);
    if (found === null ? others : lines !== null)
      throw fail(
        'E_INPUT_SHAPE',
        `${where}: lines are either messages of one conversation or conversations, not both`,
      );
    if (found === null) {
      lines ??= openConversation({});
      yield* lines.add(value, `${where}, message ${lines.size()}`);
    } else {
      others = true;
      for (const [index, { messages, besides }] of found.entries()) {
        const place = found.length === 1 ? where : `${where}, conversation ${index}`;
        const conversation = openConversation(besides);
        for (const message of messages)
          yield* conversation.add(message, `${place}, message ${conversation.size()}`);
        yield* conversation.end();
      }
    }
  }
  if (lines !== null) yield* lines.end();
}
