import type { WideJsonObject } from '@stemma/canonical';
import { listOf, objectOf } from './fields.ts';
import { firstOf, parsedIn, spanOf, textIn, timeIn, wordIn } from './loose-values.ts';
import type { ForeignReader } from './reader.ts';
import { answerIn, usageIn } from './said/answer.ts';
import type { CallOfRecord } from './said/records.ts';
import { requestIn } from './said/request.ts';
import { droppedOf, rowReader } from './said/row-reader.ts';

/** What LiteLLM calls the functions that ask a model; others make embeddings, images and so on. */
const CALLS =
  /^(a?completion|a?text_completion|a?responses|a?generate_content(_stream)?|anthropic_messages|a?chat|pass_through_endpoint)$/;

const READ: ReadonlySet<string> = new Set([
  ...['id', 'request_id', 'trace_id', 'session_id', 'call_type', 'stream', 'status', 'startTime', 'endTime'],
  ...['completionStartTime', 'model', 'model_parameters', 'messages', 'response', 'proxy_server_request'],
  ...[
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'error_str',
    'error_information',
    'response_time',
  ],
]);

const callOf = (id: string, row: WideJsonObject): CallOfRecord | { readonly dropped: string } => {
  const type = wordIn(row['call_type']) ?? 'unknown';
  if (!CALLS.test(type)) return { dropped: `row of call type ${type}` };
  const sent =
    requestIn(objectOf(parsedIn(row['proxy_server_request']))['body']) ??
    requestIn(row['proxy_server_request']);
  const request = requestIn(row['messages']) ?? sent;
  const said = answerIn(row['response']);
  const { tools: offered, functions, ...parameters } = objectOf(parsedIn(row['model_parameters']));
  const listed = listOf(firstOf(offered, functions));
  const [at, end] = [timeIn(row['startTime']), timeIn(row['endTime'])];
  const failed = row['status'] === 'failure' || wordIn(row['error_str']) !== null;
  return {
    run: wordIn(firstOf(row['session_id'], row['trace_id'])) ?? 'calls',
    title: null,
    call: {
      id,
      at,
      durationMs: spanOf(at, end),
      firstByteMs: row['stream'] === true ? spanOf(at, timeIn(row['completionStartTime'])) : null,
      model: wordIn(row['model']),
      messages: request?.messages ?? [],
      isGuessed: request?.isGuessed === true,
      parameters: { ...sent?.parameters, ...parameters },
      tools: listed.length > 0 ? listed : (request?.tools ?? sent?.tools ?? null),
      answer: failed ? null : (said?.answer ?? null),
      finishReason: said?.finishReason ?? null,
      answeredBy: said?.model ?? null,
      usage: failed ? null : (said?.usage ?? usageIn(row)),
      error: failed ? errorOf(row) : (said?.error ?? null),
    },
    dropped: droppedOf(row, READ, said?.others),
  };
};

const errorOf = (row: WideJsonObject): NonNullable<CallOfRecord['call']['error']> => {
  const {
    error_class: kind,
    error_code: code,
    error_message: message,
  } = objectOf(firstOf(row['error_information'], objectOf(parsedIn(row['metadata']))['error_information']));
  return {
    code: wordIn(firstOf(kind, code)),
    message: wordIn(firstOf(message, row['error_str'])) ?? 'the call failed, and its row does not say why',
  };
};

/**
 * Calls that LiteLLM logged: its standard payload, as its callbacks write it to files and stores, and the rows of its spend logs. A row
 * of a function that asks a model is a call; its conversation is its session, else its trace.
 */
export const litellm: ForeignReader = rowReader({
  name: 'litellm',
  mapping: 'litellm@1',
  summary: 'calls that LiteLLM logged: its standard payload, and the rows of its spend logs',
  versions: 'the standard logging payload since 1.50, and LiteLLM_SpendLogs with messages and response',
  isRow: (value) =>
    wordIn(firstOf(value['id'], value['request_id'])) !== null &&
    wordIn(value['call_type']) !== null &&
    value['startTime'] !== undefined &&
    ['messages', 'response', 'proxy_server_request'].some((name) => value[name] !== undefined),
  idOf: (row) => textIn(firstOf(row['id'], row['request_id'])) ?? '',
  pages: ['data'],
  callOf,
});
