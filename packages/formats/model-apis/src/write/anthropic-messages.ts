import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { defined } from '@stemma/values';
import { guarded, isList, objectIn, objectOrEmpty, textOrNull } from '../body.ts';
import { contentFor, textOfContent } from './content.ts';

type Growing = { role: string; content: WideJson | WideJson[]; fields: WideJsonObject };

/**
 * The messages for Anthropic's API: the inverse of its reader, so what came from it goes out as it was. Leading system
 * messages are the system prompt, later ones are messages of the user, and results of tools are blocks of such a message.
 */
export const anthropicBody = (
  messages: readonly WideJsonObject[],
): { readonly system?: WideJson; readonly messages: WideJson[] } => {
  let leading = 0;
  while (isSystem(messages[leading])) leading++;
  const made: Growing[] = [];
  let before: WideJson | undefined;
  for (const message of messages.slice(leading)) {
    add(made, message, before);
    before = message['role'];
  }
  const system = systemPrompt(messages.slice(0, leading));
  return {
    ...defined({ system }),
    messages: made.map(({ role, content, fields }) => ({ role, content, ...fields })),
  };
};

const isSystem = (message: WideJsonObject | undefined): boolean =>
  message?.['role'] === 'system' || message?.['role'] === 'developer';

const systemPrompt = (messages: readonly WideJsonObject[]): WideJson | undefined => {
  const contents = messages.map(({ content = '' }) => contentFor('anthropic.messages', 'system', content));
  if (contents.length <= 1) return contents[0];
  return contents.flatMap((content) =>
    isList(content) ? content : [{ type: 'text', text: textOfContent(content) }],
  );
};

const add = (made: Growing[], message: WideJsonObject, before: WideJson | undefined): void => {
  const { role, content = '', same_message: same } = message;
  const fields = objectOrEmpty(message['message_fields']);
  if (role === 'assistant') {
    made.push({ role, content: assistantContent(message), fields });
    return;
  }
  const given = contentFor('anthropic.messages', 'user', content);
  const blocks = role === 'tool' ? [resultBlock(message, given)] : isList(given) ? given : null;
  const last = made.at(-1);
  const joins = same === true || (same !== false && before === 'tool');
  if (last?.role === 'user' && blocks !== null && joins && isList(last.content)) {
    last.content = [...last.content, ...blocks];
    return;
  }
  made.push({ role: 'user', content: blocks ?? given, fields });
};

const resultBlock = (message: WideJsonObject, content: WideJson): WideJsonObject => {
  const {
    role: _role,
    name: _name,
    tool_call_id: call = '',
    item: _item,
    part: _part,
    same_message: _same,
    message_fields: _fields,
    content: has,
    ...rest
  } = message;
  return { type: 'tool_result', tool_use_id: call, ...(has === undefined ? {} : { content }), ...rest };
};

const assistantContent = ({ content = null, tool_calls: calls }: WideJsonObject): WideJson => {
  const own = contentFor('anthropic.messages', 'assistant', content);
  if (!isList(calls)) return own ?? '';
  const parts = isList(own) ? own : own === null || own === '' ? [] : [textBlock(own)];
  const blocks: WideJson[] = [];
  let next = 0;
  for (const call of calls) {
    const at = objectOrEmpty(call)['before'];
    const end = typeof at === 'number' && isList(content) ? Math.min(at, parts.length) : parts.length;
    while (next < end) blocks.push(parts[next++] as WideJson);
    blocks.push(useBlock(call));
  }
  return [...blocks, ...parts.slice(next)];
};

const textBlock = (content: WideJson): WideJsonObject => ({ type: 'text', text: textOfContent(content) });

const useBlock = (call: WideJson): WideJson => {
  if (!isJsonObject(call)) return textBlock('');
  const {
    id = '',
    function: named,
    custom,
    type: _type,
    before: _before,
    item: _item,
    part: _part,
    ...rest
  } = call;
  const { name = '', arguments: given, input: text } = objectOrEmpty(named ?? custom);
  return { type: 'tool_use', id, name, input: inputOf(textOrNull(given ?? text) ?? ''), ...rest };
};

/** The arguments as an object: what a model wrote may be no JSON. */
const inputOf = (text: string): WideJsonObject => {
  if (text.trim() === '') return {};
  const read = guarded(
    () => ({ ok: true, value: objectIn(new TextEncoder().encode(text), 'the input') }) as const,
  );
  return read.ok ? read.value : { input: text };
};
