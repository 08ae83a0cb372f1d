import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { CallUsage } from '@stemma/events';
import { jsonText, readAnswer, type ModelApi } from '@stemma/model-apis';
import { type Field, listOf, objectOf } from '../fields.ts';
import { countIn, firstOf, parsedIn, textIn, withoutNulls, wordIn } from '../loose-values.ts';
import { isLangChain, langChainFacts } from './langchain.ts';
import { messagesOf } from './messages.ts';
import { toolCallsIn } from './tool-calls.ts';

/** What a recorded answer says. */
export type RecordedAnswer = {
  /** As the chat API has it; null: there is none. */
  readonly answer: WideJsonObject | null;
  readonly finishReason: string | null;
  readonly model: string | null;
  readonly usage: CallUsage | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  /** Further choices, which no call of an import holds. */
  readonly others: number;
};

const NO_FACTS: RecordedAnswer = {
  answer: null,
  finishReason: null,
  model: null,
  usage: null,
  error: null,
  others: 0,
};

/** The fields in which libraries wrap an answer. */
const WRAPPERS = ['output', 'outputs', 'response', 'message', 'messages', 'result', 'content', 'generation'];

/**
 * The answer of a model in any of the forms in which it is recorded: the body of a response (chat, Responses, Anthropic, Gemini),
 * LangChain's generations, one message, a list of choices, blocks, a text; or one of these in a field such as `output`. Null: nothing
 * of the kind.
 */
export const answerIn = (given: Field, depth = 4): RecordedAnswer | null => {
  const value = parsedIn(given);
  if (value === undefined || value === null || depth === 0) return null;
  if (typeof value === 'string') return ofMessage({ role: 'assistant', content: value });
  if (Array.isArray(value)) return ofList(listOf(value), depth);
  return isJsonObject(value) ? ofObject(value, depth) : null;
};

const ofMessage = (answer: WideJsonObject): RecordedAnswer => ({ ...NO_FACTS, answer });

const ofObject = (value: WideJsonObject, depth: number): RecordedAnswer | null => {
  const api = apiOfBody(value);
  if (api !== null) return ofBody(api, value);
  if (Array.isArray(value['generations'])) return ofGenerations(value);
  if (isLangChain(value)) return ofLangChain(value);
  const read = value['role'] === undefined ? null : messagesOf(value);
  if (read !== null) {
    const answer = read.find(({ role }) => role === 'assistant') ?? null;
    const reason = wordIn(firstOf(value['finish_reason'], value['finishReason']));
    return answer === null ? null : { ...ofMessage(answer), finishReason: reason };
  }
  const said = ofText(value);
  if (said !== null) return said;
  for (const name of WRAPPERS) {
    const found = answerIn(value[name], depth - 1);
    if (found !== null)
      return { ...found, usage: found.usage ?? usageIn(firstOf(value['usage'], value['usage_metadata'])) };
  }
  return null;
};

/** The API whose answer the object is. */
const apiOfBody = (body: WideJsonObject): ModelApi | null => {
  const [choice] = listOf(body['choices']);
  if (isJsonObject(choice) && isJsonObject(choice['message'])) return 'openai.chat';
  if (body['type'] === 'message' && Array.isArray(body['content']) && body['role'] === 'assistant')
    return 'anthropic.messages';
  if (body['object'] === 'response' && Array.isArray(body['output'])) return 'openai.responses';
  return Array.isArray(body['candidates']) ? 'gemini.generate' : null;
};

const ofBody = (api: ModelApi, body: WideJsonObject): RecordedAnswer => {
  const bytes = new TextEncoder().encode(jsonText(body));
  const read = readAnswer(api, { status: 200, contentType: 'application/json' }, bytes);
  const { answer, finishReason, model, usage, error, others = [] } = read;
  return {
    answer: answer && { ...withoutNulls(answer), content: answer['content'] ?? null },
    finishReason,
    model,
    usage: usage ?? usageIn(body['usage_metadata']),
    error,
    others: others.length,
  };
};

/** `{text, toolCalls, finishReason, usage}` of the AI SDK, `{text}` of old completions. */
const ofText = (value: WideJsonObject): RecordedAnswer | null => {
  const [text, calls] = [
    textIn(value['text']),
    toolCallsIn(firstOf(value['toolCalls'], value['tool_calls'])),
  ];
  if (text === null && calls.length === 0) return null;
  return {
    ...ofMessage({ role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls: calls }) }),
    finishReason: wordIn(firstOf(value['finishReason'], value['finish_reason'])),
    usage: usageIn(value['usage']),
  };
};

const ofList = (items: readonly WideJson[], depth: number): RecordedAnswer | null => {
  const [first] = items;
  if (first === undefined) return null;
  if (isJsonObject(first) && first['role'] === undefined && isBlockType(first['type']))
    return ofBody('anthropic.messages', { content: items });
  if (items.some((item) => isJsonObject(item) && isItemType(item['type'])))
    return ofBody('openai.responses', { output: items, status: 'completed' });
  // Of a whole conversation, the answer is what came last.
  const isThread = items.some((item) => isJsonObject(item) && isOther(item));
  const found = answerIn(isThread ? items.at(-1) : first, depth - 1);
  return found === null || isThread ? found : { ...found, others: found.others + items.length - 1 };
};

const isBlockType = (type: Field): boolean =>
  ['text', 'tool_use', 'thinking', 'redacted_thinking'].includes(textIn(type) ?? '');

const isItemType = (type: Field): boolean =>
  ['function_call', 'reasoning', 'message', 'custom_tool_call'].includes(textIn(type) ?? '');

const isOther = (item: WideJsonObject): boolean => {
  const [message] = messagesOf(item) ?? [];
  return message !== undefined && message['role'] !== 'assistant';
};

/** `{generations: [[{text, message}]], llm_output}` of LangChain. */
const ofGenerations = (value: WideJsonObject): RecordedAnswer | null => {
  const batches = listOf(value['generations']);
  const [batch] = batches;
  const generations = Array.isArray(batch) ? listOf(batch) : batches;
  const generation = objectOf(generations[0]);
  const { message, text } = generation;
  const written = message !== undefined && message !== null && isLangChain(message) ? message : null;
  const own = written === null ? answerIn(message ?? text, 2) : ofLangChain(written);
  const head = objectOf(value['llm_output']);
  const info = objectOf(generation['generation_info']);
  if (own === null) return null;
  return {
    ...own,
    finishReason:
      own.finishReason ?? wordIn(firstOf(info['finish_reason'], info['stop_reason'], head['stop_reason'])),
    model: own.model ?? wordIn(firstOf(head['model_name'], head['model'])),
    usage: own.usage ?? usageIn(firstOf(head['token_usage'], head['usage'], head['tokenUsage'])),
    others: Math.max(0, generations.length - 1),
  };
};

const ofLangChain = (value: WideJson): RecordedAnswer => {
  const [answer = null] = messagesOf(value) ?? [];
  return { ...NO_FACTS, answer, ...langChainFacts(value) };
};

/** Tokens under the names that APIs and libraries give them; null where none is stated. */
export const usageIn = (value: Field): CallUsage | null => {
  const usage = objectOf(value);
  const of = (...names: readonly string[]): number | null =>
    names.map((name) => countIn(usage[name])).find((count) => count !== null) ?? null;
  const within = (...names: readonly string[]): WideJsonObject =>
    objectOf(firstOf(...names.map((name) => usage[name])));
  const read = within(
    'prompt_tokens_details',
    'input_tokens_details',
    'input_token_details',
    'inputTokenDetails',
  );
  const made = within(
    'completion_tokens_details',
    'output_tokens_details',
    'output_token_details',
    'outputTokenDetails',
  );
  const found: CallUsage = {
    input: of('prompt_tokens', 'input_tokens', 'promptTokens', 'inputTokens', 'input', 'prompt'),
    output: of(
      'completion_tokens',
      'output_tokens',
      'completionTokens',
      'outputTokens',
      'output',
      'completion',
    ),
    cached:
      countIn(firstOf(read['cached_tokens'], read['cache_read'], read['cacheReadTokens'])) ??
      of('cache_read_input_tokens', 'cachedInputTokens', 'input_cached_tokens', 'input_cache_read'),
    cacheWrite:
      countIn(firstOf(read['cache_write_tokens'], read['cache_creation'], read['cacheWriteTokens'])) ??
      of('cache_creation_input_tokens', 'input_cache_creation', 'cache_write_input_tokens'),
    reasoning:
      countIn(firstOf(made['reasoning_tokens'], made['reasoning'], made['reasoningTokens'])) ??
      of('reasoning_tokens', 'reasoningTokens', 'output_reasoning_tokens', 'output_reasoning', 'reasoning'),
  };
  return Object.values(found).every((count) => count === null) ? null : found;
};
