import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { textBlocksOf, type BlockForm, type BlockReader } from '../blocks/block-form.ts';
import { localCallIds, nameInLocalId, isLocalId } from '../blocks/local-ids.ts';
import { partsOfCall } from '../blocks/write-blocks.ts';
import { fieldsUnder, guarded, hasAny, isList, objectIn, objectOrEmpty, textOrNull } from '../body.ts';
import { jsonText } from '../json-text.ts';
import { fieldNamed, fieldSpans } from '../splicing/text-spans.ts';
import { inlineImage, textOfContent, type PartForm } from '../write/content.ts';

/** The names that a tool call or a tool message has for other things: a part with such a field stays a part. */
const TAKEN = [
  ...['id', 'type', 'function', 'before', 'item', 'part', 'role', 'name', 'content', 'tool_call_id'],
  ...['tool_calls', 'function_call', 'same_message', 'message_fields', 'call', 'result'],
];

/**
 * `{functionCall: {name, args}}` is a tool call, `{functionResponse: {name, response}}` a tool message. One without an id has
 * its name and its number among those of its name in the message: `get_weather:0`.
 */
const openReader = (): BlockReader => {
  const ids = localCallIds();
  return (block) => {
    if (!isJsonObject(block)) return { kind: 'part', part: block };
    const { functionCall: call, functionResponse: result, ...beside } = block;
    if (isJsonObject(call) && result === undefined && !hasAny(beside, TAKEN)) {
      const made = callIn(call, beside, ids.ofCall);
      if (made !== null) return { kind: 'call', call: made };
    }
    if (isJsonObject(result) && call === undefined && !hasAny(beside, TAKEN)) {
      const message = resultIn(result, beside, ids.ofResult);
      if (message !== null) return { kind: 'result', message };
    }
    return { kind: 'part', part: partOf(block) };
  };
};

type IdOf = (name: string) => string;

const callIn = (call: WideJsonObject, beside: WideJsonObject, idOf: IdOf): WideJsonObject | null => {
  const { name, args = {}, id, ...rest } = call;
  if (typeof name !== 'string' || !isJsonObject(args) || !isIdFree(id, name)) return null;
  return {
    id: id ?? idOf(name),
    type: 'function',
    function: { name, arguments: jsonText(args) },
    ...beside,
    ...fieldsUnder('call', rest),
  };
};

const resultIn = (result: WideJsonObject, beside: WideJsonObject, idOf: IdOf): WideJsonObject | null => {
  const { name, response, id, ...rest } = result;
  if (typeof name !== 'string' || !isJsonObject(response) || !isIdFree(id, name)) return null;
  return {
    ...{ role: 'tool', tool_call_id: id ?? idOf(name), name, content: jsonText(response) },
    ...beside,
    ...fieldsUnder('result', rest),
  };
};

/** True for an id that no other one is taken for. */
const isIdFree = (id: WideJson | undefined, name: string): id is string | undefined =>
  id === undefined || (typeof id === 'string' && !isLocalId(id, name));

const partOf = (block: WideJsonObject): WideJsonObject => {
  const { text, thought, ...rest } = block;
  if (typeof text !== 'string' || hasAny(block, ['type'])) return block;
  if (thought === true) return { type: 'thought', thought: text, ...rest };
  return { type: 'text', text, ...rest, ...defined({ thought }) };
};

/** What only other APIs have in a text part. */
const FOREIGN = ['cache_control', 'citations', 'annotations', 'logprobs', 'id', 'status', 'parsed'];

const geminiParts: PartForm = {
  text: (_role, { type: _type, ...part }) =>
    Object.fromEntries(Object.entries(part).filter(([name]) => !FOREIGN.includes(name))),
  image: (_part, url) => {
    const inline = inlineImage(url);
    return inline === null
      ? { fileData: { fileUri: url } }
      : { inlineData: { mimeType: inline.mediaType, data: inline.data } };
  },
  isOwnNote: ({ type }) => type === 'thought',
  other: (part) => {
    const { type, thought, ...rest } = part;
    if (type === 'thought') return { text: textOrNull(thought) ?? '', thought: true, ...rest };
    return type === 'refusal' ? { text: textOrNull(part['refusal']) ?? '' } : part;
  },
};

/** Gemini's contents: users and the model take turns, results of tools are parts of the user's. */
export const geminiForm: BlockForm = {
  list: 'contents',
  system: ['systemInstruction', 'system_instruction'],
  blocks: 'parts',
  assistant: 'model',
  roles: { user: 'user', function: 'user' },
  mayLackRole: true,
  // Clients send each chunk of a streamed answer back as a content of its own.
  joinsAssistants: true,
  hasTexts: false,
  openReader,
  readSystem: (system) => {
    if (typeof system === 'string') return system;
    const parts = isJsonObject(system) ? system['parts'] : undefined;
    if (isJsonObject(parts)) return [partOf(parts)];
    if (!isList(parts)) throw fail('E_INPUT_SHAPE', 'the system instruction has no parts');
    return parts.map((part) => (isJsonObject(part) ? partOf(part) : part));
  },
  writeCall: (call) => {
    const { id, name, input, rest } = partsOfCall(call);
    const { call: more, cache_control: _mark, index: _index, ...beside } = rest;
    const own = isLocalId(id, name) ? {} : { id };
    return { functionCall: { ...own, name, args: input, ...objectOrEmpty(more) }, ...beside };
  },
  writeResult: (message, content) => {
    const { tool_call_id: given = '', name: said, result: more, is_error: failed, ...beside } = message;
    const id = textOrNull(given) ?? '';
    const name = textOrNull(said) ?? nameInLocalId(id) ?? '';
    const own = isLocalId(id, name) ? {} : { id };
    const response = responseOf(content ?? '', failed === true);
    return { functionResponse: { ...own, name, response, ...objectOrEmpty(more) }, ...beside };
  },
  textBlock: (text) => ({ text }),
  parts: geminiParts,
  writeSystem: (contents) => {
    const parts = textBlocksOf(contents);
    return parts.length === 0 ? undefined : { parts };
  },
  systemBlocksAt: (text, at) => (text[at] === '{' ? fieldNamed(fieldSpans(text, at), 'parts')?.value[0] : at),
  systemOfBlocks: (blocks) => `{"parts":[${blocks.join(',')}]}`,
};

/** A result as an object: what a tool of another API gave is its `result`, or its `error`. */
const responseOf = (content: WideJson, hasFailed: boolean): WideJsonObject => {
  const text = isList(content) ? textOfContent(content) : content;
  if (isJsonObject(text)) return text;
  if (typeof text === 'string' && text.trimStart().startsWith('{')) {
    const read = guarded(
      () => ({ ok: true, value: objectIn(new TextEncoder().encode(text), 'a result') }) as const,
    );
    if (read.ok) return read.value;
  }
  return { [hasFailed ? 'error' : 'result']: text };
};
