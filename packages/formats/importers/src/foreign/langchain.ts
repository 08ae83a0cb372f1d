import { isJsonObject, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { openChatItems } from './chat-items.ts';
import { isList, nonEmpty, objectOf } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';
import { isLangChain } from './said/langchain.ts';
import { itemsOfLangChain } from './said/langchain-items.ts';

/**
 * Messages of LangChain: `messages_to_dict` (`[{type: 'human', data: {content}}]`), `dumpd` (`[{lc: 1, id: […, 'HumanMessage'], kwargs}]`) and `model_dump`
 * (`[{type: 'human', content}]`), as a list, as the `messages` of an object, or one on each line. Each message of the model is a call.
 */
export const langchain: ForeignReader = {
  name: 'langchain',
  mapping: 'langchain@1',
  summary: 'message lists of LangChain: messages_to_dict, dumpd, model_dump, chat histories',
  versions:
    'langchain-core 0.1 to 1.x (`tool_calls`, `usage_metadata`, `response_metadata`, blocks of providers)',
  recognises: (first) => {
    const messages = messagesIn(first);
    return messages === null ? isOwn(first) : messages.length > 0 && messages.slice(0, 20).every(isOwn);
  },
  async *read(units): AsyncIterable<ForeignItem> {
    let lines: Conversation | null = null;
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) throw fault;
      const messages = messagesIn(value);
      if (messages === null) {
        if (lines === null) yield { kind: 'conversation', key: null };
        lines ??= openConversation();
        yield* lines.add(value, where);
        continue;
      }
      yield { kind: 'conversation', key: null, title: nonEmpty(objectOf(value)['title']) };
      const conversation = openConversation();
      for (const [index, message] of messages.entries())
        yield* conversation.add(message, `${where}, message ${index}`);
    }
  },
};

/** True for a message that only LangChain writes: `type` names no other program's parts. */
const isOwn = (value: WideJson): boolean =>
  isLangChain(value) && isJsonObject(value) && (value['lc'] !== undefined || TYPES.has(value['type']));

const TYPES: ReadonlySet<WideJson | undefined> = new Set([
  'human',
  'ai',
  'system',
  'tool',
  'function',
  'chat',
  'AIMessageChunk',
  'HumanMessageChunk',
]);

/** The messages of a list, or of an object that holds one; null: the value can only be one message. */
const messagesIn = (value: WideJson): readonly WideJson[] | null => {
  if (isList(value)) return value;
  const { messages, kwargs } = objectOf(value);
  if (isList(messages)) return messages;
  const inner = objectOf(kwargs)['messages'];
  return isList(inner) ? inner : null;
};

type Conversation = { readonly add: (message: WideJson, where: string) => Iterable<ForeignItem> };

const openConversation = (): Conversation => {
  const items = openChatItems();
  return {
    *add(value, where) {
      if (!isLangChain(value)) throw fail('E_INPUT_SHAPE', `${where} is no message of LangChain`);
      yield* itemsOfLangChain(value, items);
    },
  };
};
