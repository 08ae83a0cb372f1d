import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fieldsUnder, hasAny, isList } from '../body.ts';

/**
 * One assistant message of the items that a model made in one go. A message item that is alone is kept as it stands.
 * Otherwise calls are tool calls, with the fields that these do not have under `item`; the parts of messages, and all
 * other items, are parts. Unless all items are calls, `items` says in their order what each one became: `part`, `call`,
 * or for a message its fields and the number of its parts (null: it had a text, which is one part).
 */
export const turnOf = (items: readonly WideJson[]): WideJsonObject => {
  const [only] = items;
  if (items.length === 1 && isMessageItem(only) && !hasAny(only, TAKEN)) return only;
  const parts: WideJson[] = [];
  const calls: WideJsonObject[] = [];
  const entries = items.map((item): WideJson => {
    const call = callOf(item);
    if (call !== null) {
      calls.push(call);
      return 'call';
    }
    if (!isMessageItem(item)) {
      parts.push(item);
      return 'part';
    }
    const { role: _role, content, ...message } = item;
    const own = isList(content) ? content : [{ type: 'output_text', text: content as WideJson }];
    for (const part of own) parts.push(part);
    return { message, parts: isList(content) ? content.length : null };
  });
  return {
    role: 'assistant',
    content: parts.length === 0 ? null : parts,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(calls.length === items.length ? {} : { items: entries }),
  };
};

/** The fields that tell an assistant message of several items from one that is kept as it stands. */
const TAKEN = ['tool_calls', 'items'];

const isMessageItem = (item: WideJson | undefined): item is WideJsonObject =>
  isJsonObject(item) &&
  (item['type'] === undefined || item['type'] === 'message') &&
  item['role'] === 'assistant' &&
  (typeof item['content'] === 'string' || isList(item['content']));

const callOf = (item: WideJson): WideJsonObject | null => {
  if (!isJsonObject(item)) return null;
  const { type, call_id: id, name, ...rest } = item;
  if (typeof id !== 'string' || typeof name !== 'string') return null;
  const [kind, field] = type === 'custom_tool_call' ? ['custom', 'input'] : ['function', 'arguments'];
  if (type !== 'custom_tool_call' && type !== 'function_call') return null;
  const { [field]: text, ...fields } = rest;
  if (typeof text !== 'string') return null;
  return { id, type: kind, [kind]: { name, [field]: text }, ...fieldsUnder('item', fields) };
};
