import type { WideJson } from '@stemma/canonical';
import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import type { Importer, ImporterOutput, Unit } from '../importer.ts';
import type { RequestForm } from '../request-form.ts';
import {
  findConversations,
  findItem,
  holdsConversations,
  isConversation,
  isMessage,
  type FoundConversation,
  type FoundItem,
  type Forms,
} from './find-conversations.ts';
import { openConversation, type ChatConversation } from './conversation.ts';
import { PARTS_MAPPING } from './fields.ts';
import { chatForm } from './form.ts';
import { isOfParts } from './parts-to-messages.ts';

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
  passesFaults: true,
  recognises: (first) => holdsConversations(first, forms) || isMessage(first),
  takesItems: (first) => isConversation(first, forms),
  read: (units) => read(units, forms),
});

/** Message lists of the chat API. */
export const openaiChat = messageListImporter(
  'openai-chat',
  'message lists of the chat completions API: an array, an object that holds one, arrays or JSON lines of either',
  chatForm,
);

async function* read(units: AsyncIterable<Unit>, forms: Forms): AsyncIterable<ImporterOutput> {
  let lines: ChatConversation | null = null;
  let others = false;
  for await (const { value, where, fault, isItem } of units) {
    if (isItem === true) {
      yield* readItem(findItem(value, where, forms));
      others = true;
      continue;
    }
    // One message less would be another conversation.
    if (fault !== undefined && lines !== null) throw fault;
    const found = fault === undefined ? findIn(value, where, forms) : [{ where, fault }];
    if (found === null && !others && (lines !== null || isMessage(value))) {
      lines ??= openConversation({}, mappingOf(chatForm, [value]));
      yield* lines.add(value, `${where}, message ${lines.size()}`);
      continue;
    }
    if (lines !== null) throw mixed(where);
    others = true;
    const none = (): StemmaError =>
      isMessage(value)
        ? mixed(where)
        : fail('E_INPUT_SHAPE', `${where} holds neither a message nor a list of messages`);
    for (const item of found ?? [{ where, fault: none() }]) yield* readItem(item);
  }
  if (lines !== null) yield* lines.end();
}

const mixed = (where: string): StemmaError =>
  fail('E_INPUT_SHAPE', `${where}: lines are either messages of one conversation or conversations, not both`);

const findIn = (value: WideJson, where: string, forms: Forms): readonly FoundItem[] | null => {
  try {
    return findConversations(value, where, forms);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return [{ where, fault: error }];
  }
};

function* readItem(item: FoundItem): Iterable<ImporterOutput> {
  const { where: place } = item;
  try {
    if ('fault' in item) throw item.fault;
    const { besides, form } = item.conversation;
    const messages = messagesOf(item.conversation, place);
    const conversation = openConversation(besides, mappingOf(form, messages));
    for (const message of messages)
      yield* conversation.add(message, `${place}, message ${conversation.size()}`);
    yield* conversation.end();
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    yield { kind: 'refused', place, error };
  }
}

const mappingOf = (form: RequestForm, messages: readonly WideJson[]): string =>
  form === chatForm && messages.some(isOfParts) ? PARTS_MAPPING : form.mapping;

const messagesOf = ({ form, body }: FoundConversation, place: string): readonly WideJson[] => {
  try {
    return form.messages(body);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    throw fail(error.code, `${place}, ${error.message}`);
  }
};
