import type { WideJsonObject } from '@stemma/canonical';
import { type Field, objectOf } from './fields.ts';
import { countIn, firstOf, parsedIn, textIn, timeIn, wordIn } from './loose-values.ts';
import type { ForeignReader } from './reader.ts';
import { answerIn, usageIn } from './said/answer.ts';
import type { CallOfRecord } from './said/records.ts';
import { requestIn } from './said/request.ts';
import { droppedOf, rowReader } from './said/row-reader.ts';

const READ: ReadonlySet<string> = new Set([
  ...['request_id', 'request_body', 'response_body', 'request_created_at', 'response_created_at', 'delay_ms'],
  ...['time_to_first_token', 'request_model', 'response_model', 'model', 'model_override', 'response_status'],
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cache_read_tokens', 'response_id'],
  ...['prompt_cache_write_tokens', 'reasoning_tokens', 'request_properties', 'properties', 'request_path'],
]);

const callOf = (id: string, row: WideJsonObject): CallOfRecord | { readonly dropped: string } => {
  const path = wordIn(row['request_path']);
  if (path !== null && /\/(embeddings|rerank|images|audio|moderations|models)\b/.test(path))
    return { dropped: 'request of no conversation' };
  const body = parsedIn(row['request_body']);
  const request = requestIn(body);
  const said = answerIn(row['response_body']);
  const status = countIn(row['response_status']);
  const session = firstOf(
    objectOf(parsedIn(row['request_properties']))['Helicone-Session-Id'],
    objectOf(parsedIn(row['properties']))['Helicone-Session-Id'],
  );
  const hasFailed = status !== null && (status >= 400 || status < 0);
  const error = said?.error ?? null;
  return {
    run: wordIn(session) ?? 'requests',
    title: null,
    call: {
      id,
      at: timeIn(row['request_created_at']),
      durationMs: countIn(row['delay_ms']),
      firstByteMs: countIn(row['time_to_first_token']),
      model: request?.model ?? wordIn(firstOf(row['request_model'], row['model_override'], row['model'])),
      messages: request?.messages ?? [],
      isGuessed: request?.isGuessed === true,
      parameters: request?.parameters ?? {},
      tools: request?.tools ?? null,
      answer: hasFailed ? null : (said?.answer ?? null),
      finishReason: said?.finishReason ?? null,
      answeredBy: said?.model ?? wordIn(row['response_model']),
      usage: said?.usage ?? usageOf(row),
      error: hasFailed ? (error ?? errorOf(row['response_body'], status)) : error,
    },
    dropped: droppedOf(row, READ, said?.others),
  };
};

const errorOf = (body: Field, status: number): CallOfRecord['call']['error'] => {
  const { error } = objectOf(parsedIn(body));
  const { code, type, message } = objectOf(error);
  return {
    code: wordIn(firstOf(code, type)),
    message: wordIn(firstOf(message, textIn(error))) ?? `HTTP ${status}`,
  };
};

const usageOf = (row: WideJsonObject): ReturnType<typeof usageIn> =>
  usageIn({
    prompt_tokens: row['prompt_tokens'] ?? null,
    completion_tokens: row['completion_tokens'] ?? null,
    reasoning_tokens: row['reasoning_tokens'] ?? null,
    cache_read_input_tokens: row['prompt_cache_read_tokens'] ?? null,
    cache_creation_input_tokens: row['prompt_cache_write_tokens'] ?? null,
  });

/**
 * Requests that Helicone logged, as its API and its exports give them: `{request_id, request_body, response_body, prompt_tokens}`.
 * One with an answer is a call; its conversation is its session (`Helicone-Session-Id`), else calls go on from each other.
 */
export const helicone: ForeignReader = rowReader({
  name: 'helicone',
  mapping: 'helicone@1',
  summary: 'requests that Helicone logged: pages of its API, lists and lines of its exports',
  versions: 'the rows of /v1/request/query and of its export tool, with request_body and response_body',
  isRow: (value) =>
    wordIn(value['request_id']) !== null &&
    value['request_body'] !== undefined &&
    ['response_body', 'response_status', 'request_created_at'].some((name) => value[name] !== undefined),
  idOf: (row) => textIn(row['request_id']) ?? '',
  pages: ['data'],
  callOf,
});
