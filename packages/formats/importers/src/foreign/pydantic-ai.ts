import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { CallUsage } from '@stemma/events';
import { openChatItems, type ChatItems } from './chat-items.ts';
import { countOf, isList, listOf, nonEmpty, objectOf, textOf, timeOf, type Field } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Messages of Pydantic AI, as `ModelMessagesTypeAdapter` and `all_messages_json()` write them: `[{kind: 'request', parts: [{part_kind: 'user-prompt',
 * content}]}, {kind: 'response', parts: [{part_kind: 'text', content}], usage, model_name}]`. Each response is a call. Lines that are
 * messages are one conversation; lines that are lists are one each.
 */
export const pydanticAi: ForeignReader = {
  name: 'pydantic-ai',
  mapping: 'pydantic-ai@1',
  summary: 'message histories of Pydantic AI: ModelMessagesTypeAdapter, all_messages_json()',
  versions:
    'pydantic-ai 0.1 to 1.x (`request_tokens` and `input_tokens`; `instructions`; built-in tools, files, thinking)',
  recognises: (first) =>
    isMessage(first) || (isList(first) && first.length > 0 && first.slice(0, 20).every(isMessage)),
  async *read(units): AsyncIterable<ForeignItem> {
    let lines: Conversation | null = null;
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) throw fault;
      if (!isList(value)) {
        if (lines === null) yield { kind: 'conversation', key: null };
        lines ??= openConversation();
        yield* lines.add(value, where);
        continue;
      }
      yield { kind: 'conversation', key: null };
      const conversation = openConversation();
      for (const [index, message] of value.entries())
        yield* conversation.add(message, `${where}, message ${index}`);
    }
  },
};

const isMessage = (value: WideJson): boolean =>
  isJsonObject(value) &&
  (value['kind'] === 'request' || value['kind'] === 'response') &&
  isList(value['parts']) &&
  value['parts'].every((part) => isJsonObject(part) && typeof part['part_kind'] === 'string');

type Conversation = { readonly add: (message: WideJson, where: string) => Iterable<ForeignItem> };

const openConversation = (): Conversation => {
  const items = openChatItems();
  let instructions: string | undefined;
  return {
    *add(message, where) {
      if (!isMessage(message))
        throw fail('E_INPUT_SHAPE', `${where} is no request and no response with parts`);
      const fields = objectOf(message);
      if (fields['kind'] === 'response') {
        yield* itemsOfResponse(fields, items);
        return;
      }
      const given = nonEmpty(fields['instructions']);
      const at = timeOf(fields['timestamp']);
      if (given !== undefined && given !== instructions)
        yield items.add({ role: 'system', content: given }, { at });
      instructions = given ?? instructions;
      for (const part of listOf(fields['parts'])) yield* itemsOfPart(objectOf(part), at, items);
    },
  };
};

function* itemsOfPart(
  part: WideJsonObject,
  sent: number | undefined,
  items: ChatItems,
): Iterable<ForeignItem> {
  const { part_kind: kind, content, tool_call_id: id, tool_name: name, timestamp, outcome } = part;
  const at = timeOf(timestamp) ?? sent;
  const tool = {
    ...(typeof id === 'string' && { tool_call_id: id }),
    ...(typeof name === 'string' && { name }),
  };
  switch (kind) {
    case 'system-prompt':
    case 'instruction':
      yield items.add({ role: 'system', content: plainOf(content) }, { at });
      return;
    case 'user-prompt':
      yield items.add({ role: 'user', content: contentOf(content) }, { at });
      return;
    case 'tool-return':
    case 'builtin-tool-return': {
      const hasFailed = outcome === 'failed' || outcome === 'denied';
      yield items.add(
        { role: 'tool', ...tool, content: plainOf(content), ...(hasFailed && { is_error: true }) },
        { at },
      );
      return;
    }
    case 'retry-prompt':
      if (typeof name === 'string')
        yield items.add({ role: 'tool', ...tool, content: plainOf(content), is_error: true }, { at });
      else yield items.add({ role: 'user', content: plainOf(content) }, { at });
      return;
    default:
      yield { kind: 'dropped', what: `part ${(textOf(kind) ?? '').slice(0, 60)}` };
  }
}

/** Tools that the provider runs answer within a response: what it says after that is a message of its own. */
function* itemsOfResponse(response: WideJsonObject, items: ChatItems): Iterable<ForeignItem> {
  const {
    parts,
    usage,
    model_name: model,
    timestamp,
    finish_reason: reason,
    provider_details: details,
  } = response;
  const content: WideJson[] = [];
  const calls: WideJsonObject[] = [];
  const results: WideJsonObject[] = [];
  for (const part of listOf(parts)) {
    const fields = objectOf(part);
    const kind = textOf(fields['part_kind']) ?? '';
    if (kind === 'tool-call' || kind === 'builtin-tool-call')
      calls.push(callOf(fields, content.length, calls.length));
    else if (kind === 'builtin-tool-return') results.push(fields);
    else content.push(...partOf(fields));
  }
  const [only] = content;
  const isPlain =
    content.length === 1 && isJsonObject(only) && only['type'] === 'text' && Object.keys(only).length === 2;
  const answer: WideJsonObject = {
    role: 'assistant',
    content:
      content.length === 0 ? (calls.length === 0 ? '' : null) : isPlain ? (only['text'] ?? '') : content,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ before, ...call }) =>
        isPlain || before === content.length ? call : { ...call, before: before ?? 0 },
      ),
    }),
  };
  const at = timeOf(timestamp);
  yield items.add(answer, {
    at,
    model: nonEmpty(model) ?? null,
    usage: usageOf(usage),
    finishReason: nonEmpty(reason) ?? nonEmpty(objectOf(details)['finish_reason']) ?? null,
  });
  for (const result of results) yield* itemsOfPart(result, at, items);
}

const callOf = (part: WideJsonObject, before: number, index: number): WideJsonObject => {
  const { tool_name: name, args, tool_call_id: id, part_kind: kind } = part;
  const given = typeof args === 'string' ? args : canonicalJson(args ?? {});
  return {
    id: textOf(id) ?? `call-${index}`,
    type: 'function',
    function: { name: textOf(name) ?? 'unknown', arguments: given === '' ? '{}' : given },
    ...(kind === 'builtin-tool-call' && { part: { part_kind: kind } }),
    before,
  };
};

/** A part of an answer that is no call, as a part of a message. */
const partOf = (part: WideJsonObject): readonly WideJsonObject[] => {
  const { part_kind: kind, content, signature, id } = part;
  const text = textOf(content);
  if (kind === 'text') return text === undefined || text === '' ? [] : [{ type: 'text', text }];
  if (kind === 'thinking')
    return [
      {
        type: 'thinking',
        thinking: text ?? '',
        ...(typeof signature === 'string' && { signature }),
        ...(typeof id === 'string' && { id }),
      },
    ];
  if (kind === 'file') return [fileOf(objectOf(content))];
  const { part_kind: _kind, ...rest } = part;
  return [{ type: textOf(kind) ?? 'unknown', ...rest }];
};

/** What a user or a tool gave: a text, or a list of texts, addresses and bytes. */
const contentOf = (content: Field): WideJson => {
  if (!isList(content)) return plainOf(content);
  return content.map((item) => {
    if (typeof item === 'string') return { type: 'text', text: item };
    if (!isJsonObject(item)) return { type: 'text', text: canonicalJson(item) };
    if (item['kind'] === 'text-content') return { type: 'text', text: textOf(item['content']) ?? '' };
    return fileOf(item);
  });
};

const fileOf = (file: WideJsonObject): WideJsonObject => {
  const { kind, url, data, media_type: type } = file;
  const media = textOf(type) ?? '';
  if (kind === 'image-url' && typeof url === 'string') return { type: 'image_url', image_url: { url } };
  if (kind === 'binary' && typeof data === 'string' && media.startsWith('image/'))
    return { type: 'image_url', image_url: { url: `data:${media};base64,${standard(data)}` } };
  const { kind: _kind, ...rest } = file;
  return { type: textOf(kind) ?? 'file', ...rest };
};

/** Bytes are written in the base64 of addresses. */
const standard = (data: string): string => data.replaceAll('-', '+').replaceAll('_', '/');

const plainOf = (content: Field): string =>
  typeof content === 'string'
    ? content
    : content === undefined || content === null
      ? ''
      : canonicalJson(content);

const usageOf = (usage: Field): CallUsage | null => {
  const fields = objectOf(usage);
  const details = objectOf(fields['details']);
  const found = {
    input: countOf(fields['input_tokens'] ?? fields['request_tokens']),
    output: countOf(fields['output_tokens'] ?? fields['response_tokens']),
    cached: countOf(
      fields['cache_read_tokens'] ?? details['cached_tokens'] ?? details['cache_read_input_tokens'],
    ),
    cacheWrite: countOf(fields['cache_write_tokens'] ?? details['cache_creation_input_tokens']),
    reasoning: countOf(details['reasoning_tokens'] ?? details['thoughts_tokens']),
  };
  return found.input === null && found.output === null ? null : found;
};
