import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { type Field, listOf, objectOf } from './fields.ts';
import type { ForeignCall, ForeignItem, ForeignMessage } from './item.ts';
import { firstOf, textIn, timeIn, wordIn } from './loose-values.ts';
import type { ForeignReader } from './reader.ts';
import { eachUnit } from './whole-units.ts';

const isChat = (value: Field): value is WideJsonObject =>
  isJsonObject(value) &&
  /^orpg\.3\./.test(textIn(value['version']) ?? '') &&
  isJsonObject(value['messages']) &&
  isJsonObject(value['items']);

/**
 * Chats that OpenRouter's page exports: `{version: 'orpg.3.0', characters, messages, items}`. Each answer of a model is a call; where
 * several models answer one message, each begins a branch.
 */
export const openrouterChat: ForeignReader = {
  name: 'openrouter-chat',
  mapping: 'openrouter-chat@1',
  summary: 'chats that OpenRouter’s page exports',
  versions: 'orpg.3.0',
  recognises: isChat,
  async *read(units) {
    yield* eachUnit(units, function* ({ value, where }) {
      if (!isChat(value)) throw fail('E_INPUT_SHAPE', `${where} is no chat of OpenRouter`);
      yield* itemsOf(value);
    });
  },
};

type Said = { readonly id: string; readonly message: WideJsonObject; readonly at: number | null };

function* itemsOf(chat: WideJsonObject): Iterable<ForeignItem> {
  const title = wordIn(chat['title']);
  yield {
    kind: 'conversation',
    key: null,
    version: textIn(chat['version']) ?? undefined,
    ...(title !== null && { title }),
  };
  const said = Object.entries(objectOf(chat['messages'])).map(([id, value]): Said => {
    const message = objectOf(value);
    return { id, message, at: timeIn(message['createdAt']) };
  });
  // Messages without a time stay where they are.
  const inOrder = said.every(({ at }) => at !== null)
    ? said.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))
    : said;
  for (const each of inOrder) yield itemOf(each, chat);
}

const itemOf = ({ id, message, at }: Said, chat: WideJsonObject): ForeignItem => {
  const items = listOf(message['items']).map((item) =>
    objectOf(objectOf(objectOf(chat['items'])[textIn(objectOf(item)['id']) ?? ''])['data']),
  );
  const text = textsOf(items.filter(({ type }) => type !== 'reasoning'));
  const isOfUser = message['characterId'] === 'USER' || message['type'] === 'user';
  const common = { id, ...(at !== null && { at }) };
  if (isOfUser) return { kind: 'message', ...common, ...userMessage(text) };
  const thought = textsOf(items.filter(({ type }) => type === 'reasoning'));
  const parent = wordIn(message['parentMessageId']);
  const character = objectOf(objectOf(chat['characters'])[textIn(message['characterId']) ?? '']);
  return {
    kind: 'call',
    ...common,
    ...(parent !== null && Object.hasOwn(objectOf(chat['messages']), parent) && { after: parent }),
    model: wordIn(character['model']),
    answer: text === '' ? null : answerOf(text, thought),
    missing: ['system prompt', 'parameters', 'usage'],
  } satisfies ForeignCall;
};

const userMessage = (content: string): Pick<ForeignMessage, 'role' | 'messages'> => ({
  role: 'user',
  messages: [{ role: 'user', content }],
});

const answerOf = (text: string, thought: string): WideJsonObject => ({
  role: 'assistant',
  content: text,
  ...(thought !== '' && { reasoning: thought }),
});

/** The texts of items: of their parts, or of the summaries of what a model thought. */
const textsOf = (items: readonly WideJsonObject[]): string =>
  items
    .flatMap((item): readonly WideJson[] => {
      const parts = firstOf(item['content'], item['summary']);
      return typeof parts === 'string' ? [{ text: parts }] : listOf(parts);
    })
    .map((part) => textIn(objectOf(part)['text']) ?? '')
    .join('');
