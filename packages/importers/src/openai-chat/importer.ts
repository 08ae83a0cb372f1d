import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import type { Importer, ImporterOutput, Unit } from '../importer.ts';
import type { RequestForm } from '../request-form.ts';
import { findConversations, holdsConversations, type FoundConversation } from './find-conversations.ts';
import { openConversation, type ChatConversation } from './conversation.ts';
import { chatForm } from './form.ts';

/**
 * An importer of message lists (context-tree §9): a JSON array of messages, the body of a request, an object that holds one of
 * them, an array of either, or JSON lines of either, each line a conversation of its own; lines that are one message each
 * are one conversation.
 *
 * @param forms those that a conversation may have; each gets the mapping of its own
 */
export const messageListImporter = (
  name: string,
  summary: string,
  ...forms: readonly [RequestForm, ...RequestForm[]]
): Importer => ({
  name,
  mapping: forms[0].mapping,
  summary,
  recognises: (first) => holdsConversations(first, forms) || isMessage(first),
  read: (units) => read(units, forms),
});

/** Message lists of the chat API. */
export const openaiChat = messageListImporter(
  'openai-chat',
  'message lists of the chat completions API: an array, an object that holds one, arrays or JSON lines of either',
  chatForm,
);

const isMessage = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) && value['role'] !== undefined;

async function* read(
  units: AsyncIterable<Unit>,
  forms: readonly [RequestForm, ...RequestForm[]],
): AsyncIterable<ImporterOutput> {
  let lines: ChatConversation | null = null;
  let others = false;
  for await (const { value, where } of units) {
    const found = findConversations(value, where, forms);
    if (found === null ? others : lines !== null)
      throw fail(
        'E_INPUT_SHAPE',
        `${where}: lines are either messages of one conversation or conversations, not both`,
      );
    if (found === null) {
      lines ??= openConversation({}, chatForm.mapping);
      yield* lines.add(value, `${where}, message ${lines.size()}`);
    } else {
      others = true;
      for (const [index, each] of found.entries()) {
        const place = found.length === 1 ? where : `${where}, conversation ${index}`;
        const conversation = openConversation(each.besides, each.form.mapping);
        for (const message of messagesOf(each, place))
          yield* conversation.add(message, `${place}, message ${conversation.size()}`);
        yield* conversation.end();
      }
    }
  }
  if (lines !== null) yield* lines.end();
}

const messagesOf = ({ form, body }: FoundConversation, place: string): readonly WideJson[] => {
  try {
    return form.messages(body);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    throw fail(error.code, `${place}, ${error.message}`);
  }
};
