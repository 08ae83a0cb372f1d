import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { guarded, isList, objectIn, objectOrEmpty, textOrNull } from '../body.ts';
import { isLocalId } from './local-ids.ts';
import { contentFor, textOfContent } from '../write/content.ts';
import type { BlockForm } from './block-form.ts';

type Growing = { role: string; content: WideJson | WideJson[] | undefined; fields: WideJsonObject };

/**
 * The messages for an API of blocks: the inverse of its reader, so what came from it goes out as it was. Leading system
 * messages are the system prompt, later ones are messages of the user, and results of tools are blocks of such a message.
 */
export const blocksBody = (form: BlockForm, messages: readonly WideJsonObject[]): WideJsonObject => {
  let leading = 0;
  while (isSystem(messages[leading])) leading++;
  const made: Growing[] = [];
  let before: WideJson | undefined;
  for (const message of withToolNames(messages.slice(leading))) {
    add(form, made, message, before);
    before = message['role'];
  }
  const contents = messages
    .slice(0, leading)
    .map(({ content = '' }) => contentFor(form.parts, 'system', content));
  const system = form.writeSystem(contents);
  return {
    ...(system === undefined ? {} : { [form.system[0]]: system }),
    [form.list]: made.map(({ role, content, fields }) => ({
      role,
      ...(content === undefined ? {} : { [form.blocks]: content }),
      ...fields,
    })),
  };
};

const namesOfCalls = ({ tool_calls: calls }: WideJsonObject): readonly (readonly [WideJson, string])[] =>
  (isList(calls) ? calls : []).flatMap((call) =>
    isJsonObject(call) ? [[call['id'] ?? null, partsOfCall(call).name] as const] : [],
  );

/** The messages, where the result of a tool has its name, which some APIs need: that of the call that it answers. */
export const withToolNames = (messages: readonly WideJsonObject[]): readonly WideJsonObject[] => {
  const names = new Map<WideJson, string>();
  return messages.map((message) => {
    for (const [id, name] of namesOfCalls(message)) names.set(id, name);
    const { role, name, tool_call_id: call = null } = message;
    const known = role === 'tool' && name === undefined ? names.get(call) : undefined;
    return known === undefined || isLocalId(textOrNull(call) ?? '', known)
      ? message
      : { ...message, name: known };
  });
};

const isSystem = (message: WideJsonObject | undefined): boolean =>
  message?.['role'] === 'system' || message?.['role'] === 'developer';

const add = (
  form: BlockForm,
  made: Growing[],
  message: WideJsonObject,
  before: WideJson | undefined,
): void => {
  const { role, content = '', same_message: same } = message;
  const fields = objectOrEmpty(message['message_fields']);
  if (role === 'assistant') {
    made.push({ role: form.assistant, content: assistantContent(form, message), fields });
    return;
  }
  const given = contentFor(form.parts, 'user', content);
  const listed = form.hasTexts ? given : asBlocks(form, given);
  const blocks = role === 'tool' ? [resultBlock(form, message)] : isList(listed) ? listed : null;
  const last = made.at(-1);
  const joins = same === true || (same !== false && before === 'tool');
  if (last?.role === 'user' && blocks !== null && joins && isList(last.content)) {
    last.content = [...last.content, ...blocks];
    return;
  }
  made.push({ role: 'user', content: blocks ?? listed, fields });
};

/** A content as a list of blocks: a text is one. */
export const asBlocks = (form: BlockForm, content: WideJson): readonly WideJson[] => {
  if (isList(content)) return content;
  return content === null || content === '' ? [] : [form.textBlock(textOfContent(content))];
};

const resultBlock = (form: BlockForm, message: WideJsonObject): WideJson => {
  const {
    role: _role,
    item: _item,
    part: _part,
    same_message: _same,
    message_fields: _fields,
    content,
    ...rest
  } = message;
  return form.writeResult(rest, content === undefined ? undefined : contentFor(form.parts, 'user', content));
};

const assistantContent = (
  form: BlockForm,
  { content = null, tool_calls: calls }: WideJsonObject,
): WideJson => {
  const own = contentFor(form.parts, 'assistant', content);
  if (!isList(calls)) return form.hasTexts ? (own ?? '') : asBlocks(form, own);
  const parts = asBlocks(form, own);
  const blocks: WideJson[] = [];
  let next = 0;
  for (const call of calls) {
    const at = objectOrEmpty(call)['before'];
    const end = typeof at === 'number' && isList(content) ? Math.min(at, parts.length) : parts.length;
    while (next < end) blocks.push(parts[next++] as WideJson);
    blocks.push(isJsonObject(call) ? form.writeCall(call) : form.textBlock(''));
  }
  return [...blocks, ...parts.slice(next)];
};

/** What a tool call says: its name, its arguments as an object, and what it has besides. */
export const partsOfCall = (
  call: WideJsonObject,
): {
  readonly id: string;
  readonly name: string;
  readonly input: WideJsonObject;
  readonly rest: WideJsonObject;
} => {
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
  return {
    id: textOrNull(id) ?? '',
    name: textOrNull(name) ?? '',
    input: objectOfArguments(textOrNull(given ?? text) ?? ''),
    rest,
  };
};

/** The arguments as an object: what a model wrote may be no JSON. */
const objectOfArguments = (text: string): WideJsonObject => {
  if (text.trim() === '') return {};
  const read = guarded(
    () => ({ ok: true, value: objectIn(new TextEncoder().encode(text), 'the input') }) as const,
  );
  return read.ok ? read.value : { input: text };
};
