import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { CallUsage } from '@stemma/events';
import { type Field, listOf, objectOf } from '../fields.ts';
import { countIn, firstOf, textIn, withoutNulls, wordIn } from '../loose-values.ts';
import { toolCallsIn } from './tool-calls.ts';

/** What LangChain calls the roles of the chat API; its classes are `HumanMessage`, `AIMessageChunk` … */
const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  ai: 'assistant',
  assistant: 'assistant',
  system: 'system',
  developer: 'developer',
  tool: 'tool',
  function: 'function',
};

/** A message that LangChain wrote: its fields, whatever stands around them. */
type Written = { readonly role: string; readonly fields: WideJsonObject };

/**
 * The fields of a message in any of LangChain's forms: `dumpd` (`{lc, id: […, 'HumanMessage'], kwargs}`), `messages_to_dict`
 * (`{type: 'human', data}`) and `model_dump` (`{type: 'human', content}`); null for any other value.
 */
const writtenIn = (value: WideJson): Written | null => {
  if (!isJsonObject(value) || value['role'] !== undefined) return null;
  if (isJsonObject(value['kwargs']) && Array.isArray(value['id'])) {
    const fields = value['kwargs'];
    const role = roleOf(listOf(value['id']).at(-1)) ?? roleOf(fields['type']) ?? roleOf(fields['role']);
    return role === null ? null : { role, fields };
  }
  const { type, data } = value;
  const fields = isJsonObject(data) ? data : value;
  const role = type === 'chat' ? roleOf(fields['role']) : roleOf(type);
  return role === null || fields['content'] === undefined ? null : { role, fields };
};

const roleOf = (type: Field): string | null => {
  const name = textIn(type)
    ?.replace(/Message(Chunk)?$/, '')
    .toLowerCase();
  return name !== undefined && Object.hasOwn(ROLES, name) ? (ROLES[name] ?? null) : null;
};

/** True for a message that LangChain wrote. */
export const isLangChain = (value: WideJson): boolean => writtenIn(value) !== null;

/** The message as the chat API has it; null for what LangChain did not write. */
export const langChainMessage = (value: WideJson): WideJsonObject | null => {
  const written = writtenIn(value);
  if (written === null) return null;
  const { role, fields } = written;
  const { content = null, name } = fields;
  const more = objectOf(fields['additional_kwargs']);
  const called = toolCallsIn(fields['tool_calls']);
  const calls = called.length > 0 ? called : toolCallsIn(more['tool_calls']);
  const reasoning = wordIn(more['reasoning_content']);
  return withoutNulls({
    role,
    content: contentOf(content, calls.length > 0),
    ...(calls.length > 0 && role === 'assistant' && { tool_calls: calls }),
    ...(reasoning !== null && { reasoning_content: reasoning }),
    ...(role === 'tool' && { tool_call_id: wordIn(fields['tool_call_id']) ?? '' }),
    ...(role === 'tool' && fields['status'] === 'error' && { is_error: true }),
    ...(wordIn(name) !== null && { name: wordIn(name) }),
  });
};

/** The calls among the parts stand in `tool_calls` too. */
const contentOf = (content: WideJson, hasCalls: boolean): WideJson => {
  if (!Array.isArray(content)) return content;
  return listOf(content).flatMap((part): WideJson[] => {
    if (typeof part === 'string') return [{ type: 'text', text: part }];
    if (!isJsonObject(part)) return [];
    if (hasCalls && CALLS.has(textIn(part['type']) ?? '')) return [];
    const { index: _index, ...rest } = part;
    return [rest];
  });
};

const CALLS: ReadonlySet<string> = new Set(['tool_use', 'function_call', 'tool_call', 'input_json_delta']);

/** What a message of a model says beside its content. */
export type LangChainFacts = {
  readonly usage: CallUsage | null;
  readonly model: string | null;
  readonly finishReason: string | null;
};

export const langChainFacts = (value: WideJson): LangChainFacts => {
  const fields = writtenIn(value)?.fields ?? {};
  const head = objectOf(fields['response_metadata']);
  return {
    usage: usageOf(objectOf(fields['usage_metadata'])),
    model: wordIn(firstOf(head['model_name'], head['model'], head['model_id'])),
    finishReason: wordIn(firstOf(head['finish_reason'], head['stop_reason'], head['stopReason'])),
  };
};

const usageOf = (usage: WideJsonObject): CallUsage | null => {
  const [input, output] = [countIn(usage['input_tokens']), countIn(usage['output_tokens'])];
  if (input === null && output === null) return null;
  const [read, made] = [objectOf(usage['input_token_details']), objectOf(usage['output_token_details'])];
  return {
    input,
    output,
    cached: countIn(read['cache_read']),
    cacheWrite: countIn(read['cache_creation']),
    reasoning: countIn(made['reasoning']),
  };
};
