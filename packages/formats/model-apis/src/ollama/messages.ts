import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { isLocalId, localCallIds, nameInLocalId } from '../blocks/local-ids.ts';
import { partsOfCall } from '../blocks/write-blocks.ts';
import { hasAny, isList, objectOrEmpty, textOrNull } from '../body.ts';
import { chatMessage } from '../chat/message-at.ts';
import { jsonText } from '../json-text.ts';
import { contentFor, inlineImage, textOfContent, type PartForm } from '../write/content.ts';

/** The names that a tool call has for other things: a call with such a field stays as it is. */
const TAKEN = ['type', 'before', 'item', 'part', 'call'];

type IdOf = (name: string) => string;

/**
 * The messages of Ollama's chat in the form of OpenAI's. Arguments are an object there, and a call without an id has its name and its
 * number among those of its name in the message: `get_weather:0`. A result without an id is of the tool that it names, or else of the
 * next call before it.
 *
 * @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN
 */
export const ollamaMessages = (messages: WideJson | undefined): WideJsonObject[] => {
  if (!isList(messages)) throw fail('E_INPUT_SHAPE', 'the request has no list of messages');
  let calls: string[] = [];
  let { ofResult } = localCallIds();
  return messages.map((value, i) => {
    const message = chatMessage(value, i);
    if (message['role'] !== 'tool') {
      const read = ollamaMessage(message);
      ({ ofResult } = localCallIds());
      calls = (isList(read['tool_calls']) ? read['tool_calls'] : []).map(
        (call) => textOrNull(objectOrEmpty(call)['id']) ?? '',
      );
      return read;
    }
    return resultOf(message, calls, ofResult);
  });
};

const resultOf = (message: WideJsonObject, calls: string[], idOf: IdOf): WideJsonObject => {
  const { role, tool_call_id: given, tool_name: named, content, ...rest } = message;
  const known = typeof given === 'string';
  if ((given !== undefined && !known) || (known && typeof named === 'string' && isLocalId(given, named)))
    return message;
  const name = textOrNull(named);
  const own = known ? given : name === null ? calls[0] : idOf(name);
  if (own !== undefined && calls.includes(own)) calls.splice(calls.indexOf(own), 1);
  return {
    ...{ role: role as string, tool_call_id: own ?? '' },
    ...(name === null ? {} : { name }),
    ...(content === undefined ? {} : { content }),
    ...rest,
    ...(named !== undefined && name === null ? { tool_name: named } : {}),
  };
};

/** A message that is no result of a tool, such as an answer. */
export const ollamaMessage = (message: WideJsonObject): WideJsonObject => {
  const { tool_calls: calls } = message;
  if (!isList(calls)) return message;
  const { ofCall } = localCallIds();
  return { ...message, tool_calls: calls.map((call) => callOf(call, ofCall)) };
};

const callOf = (call: WideJson, idOf: IdOf): WideJson => {
  if (!isJsonObject(call) || hasAny(call, TAKEN)) return call;
  const { id, function: called, ...rest } = call;
  const { name, arguments: given = {}, ...more } = objectOrEmpty(called);
  if (typeof name !== 'string' || !isJsonObject(given)) return call;
  if (id !== undefined && (typeof id !== 'string' || isLocalId(id, name))) return call;
  return {
    id: id ?? idOf(name),
    type: 'function',
    function: { name, arguments: jsonText(given), ...more },
    ...rest,
  };
};

/** Its messages have one text, and images beside it. */
const ollamaParts: PartForm = {
  text: (_role, part) => ({ type: 'text', text: part['text'] ?? '' }),
  image: (part, url) => ({ ...part, type: 'image', url }),
  isOwnNote: () => false,
};

/** What other APIs noted beside a message. */
const FOREIGN = ['same_message', 'message_fields', 'item', 'items', 'part', 'is_error', 'tool_call_id'];

/** A message as Ollama takes it. */
export const ollamaItem = (message: WideJsonObject): WideJsonObject => {
  const { role, name, content, tool_calls: calls, tool_call_id: call, ...rest } = message;
  const own = Object.fromEntries(Object.entries(rest).filter(([field]) => !FOREIGN.includes(field)));
  return {
    role: role === 'developer' ? 'system' : (role ?? 'user'),
    ...(content === undefined ? {} : contentAndImages(content)),
    ...(isList(calls) ? { tool_calls: calls.map(callItem) } : {}),
    ...(role === 'tool' ? whichCall(name, call) : defined({ name })),
    ...own,
  };
};

/** Which call a result answers: an id that only this package gave is not said. */
const whichCall = (name: WideJson | undefined, call: WideJson | undefined): WideJsonObject => {
  const id = textOrNull(call) ?? '';
  const isLocal = typeof name === 'string' ? isLocalId(id, name) : nameInLocalId(id) !== null;
  return {
    ...(typeof name === 'string' ? { tool_name: name } : {}),
    ...(id === '' || isLocal ? {} : { tool_call_id: id }),
  };
};

const contentAndImages = (content: WideJson): WideJsonObject => {
  if (!isList(content)) return { content: content ?? '' };
  const parts = contentFor(ollamaParts, 'user', content) as readonly WideJson[];
  const images = parts.flatMap((part) => {
    const inline = inlineImage(textOrNull(objectOrEmpty(part)['url']) ?? '');
    return inline === null ? [] : [inline.data];
  });
  return { content: textOfContent(parts), ...(images.length === 0 ? {} : { images }) };
};

const callItem = (call: WideJson): WideJson => {
  if (!isJsonObject(call)) return call;
  if (call['type'] === undefined && call['id'] === undefined) return call;
  const { id, name, input, rest } = partsOfCall(call);
  const { cache_control: _mark, function: _called, ...beside } = rest;
  const { name: _name, arguments: _given, ...more } = objectOrEmpty(call['function']);
  return {
    ...(id === '' || isLocalId(id, name) ? {} : { id }),
    function: { name, arguments: input, ...more },
    ...beside,
  };
};
