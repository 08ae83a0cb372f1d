import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isList, objectOrEmpty, textOrNull } from '../body.ts';
import { contentFor, textOfContent, type PartForm } from '../write/content.ts';

const responsesParts: PartForm = {
  text: (role, part) => {
    const wanted = role === 'assistant' ? 'output_text' : 'input_text';
    return part['type'] === wanted ? part : { type: wanted, text: part['text'] ?? '' };
  },
  image: (part, url) => (part['type'] === 'input_image' ? part : { type: 'input_image', image_url: url }),
  isOwnNote: ({ type }) => type === 'reasoning',
};

/**
 * The instructions and input items for OpenAI's Responses API: the inverse of its reader. A first system message that is
 * a text is the instructions.
 */
export const responsesBody = (
  messages: readonly WideJsonObject[],
): { readonly instructions?: string; readonly input: WideJson[] } => {
  const [first, ...others] = messages;
  if (first?.['role'] === 'system' && typeof first['content'] === 'string' && first['type'] === undefined)
    return { instructions: first['content'], input: others.flatMap(responsesItems) };
  return { input: messages.flatMap(responsesItems) };
};

/** The items that a message stands for. */
export const responsesItems = (message: WideJsonObject): WideJson[] => {
  const { role, content = null, items } = message;
  if (role === 'tool') return [outputItem(message)];
  if (role === 'assistant' && isList(items)) return itemsOfTurn(message, items);
  const own = contentFor(responsesParts, role as string, content ?? '');
  const { tool_calls: calls, same_message: _same, message_fields: _fields, ...rest } = message;
  if (role !== 'assistant' || 'type' in message) return [{ ...rest, content: own }];
  const text = textOfContent(own);
  return [
    ...(text === '' && isList(calls) ? [] : [{ role, content: text }]),
    ...(isList(calls) ? calls.map(callItem) : []),
  ];
};

const outputItem = (message: WideJsonObject): WideJsonObject => {
  const { tool_call_id: call = '', content = '' } = message;
  const output = contentFor(responsesParts, 'tool', content);
  return { type: 'function_call_output', call_id: call, output, ...objectOrEmpty(message['item']) };
};

const callItem = (call: WideJson): WideJsonObject => {
  const { id = '', type, item, ...fields } = objectOrEmpty(call);
  const isCustom = type === 'custom';
  const { name = '', ...texts } = objectOrEmpty(fields[isCustom ? 'custom' : 'function']);
  const own = isCustom ? { input: texts['input'] ?? '' } : { arguments: texts['arguments'] ?? '' };
  const kind = isCustom ? 'custom_tool_call' : 'function_call';
  return { type: kind, call_id: id, name, ...own, ...objectOrEmpty(item) };
};

/** What a model made in one go, item by item, as the reader noted it. */
const itemsOfTurn = (
  { content, tool_calls: calls }: WideJsonObject,
  items: readonly WideJson[],
): WideJson[] => {
  const parts = isList(content) ? [...content] : [];
  const waiting = isList(calls) ? [...calls] : [];
  return items.flatMap((entry): WideJson[] => {
    if (entry === 'call') return [callItem(waiting.shift() ?? null)];
    if (entry === 'part') return [parts.shift() ?? null];
    if (!isJsonObject(entry)) return [];
    const count = entry['parts'];
    const own =
      typeof count === 'number'
        ? parts.splice(0, count)
        : (textOrNull(objectOrEmpty(parts.shift())['text']) ?? '');
    const { role: _role, ...fields } = objectOrEmpty(entry['message']);
    return [{ role: 'assistant', content: own, ...fields }];
  });
};
