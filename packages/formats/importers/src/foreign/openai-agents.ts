import { isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { responsesMessages } from '@stemma/model-apis';
import { openChatItems } from './chat-items.ts';
import { isList, textOf, timeOf } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Sessions of the OpenAI Agents SDK: its items (`[{role: 'user', content}, {type: 'function_call', …}]`), those of an export with a name,
 * `{session_id, items: […]}`, and rows of its table `agent_messages`, `{id, session_id, message_data: '{…}', created_at}`, in a list or on lines. What the
 * model made between two messages of others is a call: the items do not say where a response ends.
 */
export const openaiAgents: ForeignReader = {
  name: 'openai-agents',
  mapping: 'openai-agents@1',
  summary: 'sessions of the OpenAI Agents SDK: lists of items, rows of agent_messages',
  versions: 'openai-agents 0.1 to 0.6 (SQLiteSession, SQLAlchemySession), items of the Responses API',
  recognises: (first) =>
    isRow(first) ||
    (isList(first) && first.some(isRow)) ||
    isItems(isJsonObject(first) && typeof first['session_id'] === 'string' ? first['items'] : first),
  async *read(units): AsyncIterable<ForeignItem> {
    const rows = new Map<string, { readonly items: WideJson[]; at: number | undefined }>();
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) throw fault;
      const listed = isList(value) ? value : [value];
      if (listed.some(isRow)) {
        for (const row of listed) addRow(row, rows, where);
        continue;
      }
      const session = isJsonObject(value) ? textOf(value['session_id']) : undefined;
      const items = isJsonObject(value) ? value['items'] : value;
      if (!isList(items)) throw fail('E_INPUT_SHAPE', `${where} holds no list of items`);
      yield* itemsOf(session ?? null, items, undefined);
    }
    for (const [session, { items, at }] of rows) yield* itemsOf(session, items, at);
  },
};

const ITEMS: ReadonlySet<WideJson | undefined> = new Set([
  ...['function_call', 'function_call_output', 'reasoning', 'custom_tool_call', 'custom_tool_call_output'],
  ...[
    'file_search_call',
    'web_search_call',
    'computer_call',
    'computer_call_output',
    'local_shell_call',
    'mcp_call',
  ],
]);

const isItems = (value: WideJson | undefined): boolean =>
  isList(value) &&
  value.length > 0 &&
  value.every(
    (item) => isJsonObject(item) && (typeof item['role'] === 'string' || typeof item['type'] === 'string'),
  ) &&
  value.some((item) => isJsonObject(item) && item['role'] === undefined && ITEMS.has(item['type']));

const isRow = (value: WideJson): boolean =>
  isJsonObject(value) && typeof value['session_id'] === 'string' && typeof value['message_data'] === 'string';

const addRow = (
  row: WideJson,
  rows: Map<string, { readonly items: WideJson[]; at: number | undefined }>,
  where: string,
): void => {
  if (!isJsonObject(row)) throw fail('E_INPUT_SHAPE', `${where} is no row of agent_messages`);
  const session = textOf(row['session_id']);
  const data = textOf(row['message_data']);
  if (session === undefined || data === undefined)
    throw fail('E_INPUT_SHAPE', `${where} is no row of agent_messages`);
  const known = rows.get(session) ?? { items: [], at: timeOf(row['created_at']) };
  known.items.push(parseWideJson(data, `message_data of ${where}`));
  rows.set(session, known);
};

function* itemsOf(
  key: string | null,
  items: readonly WideJson[],
  at: number | undefined,
): Iterable<ForeignItem> {
  yield { kind: 'conversation', key };
  const chat = openChatItems();
  for (const [index, message] of responsesMessages(undefined, items).entries())
    yield chat.add(message, index === 0 ? { at } : {});
}
