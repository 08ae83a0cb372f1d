/** Streams of the three APIs in the form of their documentation. */
import { jsonText } from '../src/json-text.ts';
import type { WideJson } from '@stemma/canonical';

/** A stream of unnamed events, as OpenAI's chat API sends it. */
export const chatStream = (chunks: readonly WideJson[]): Uint8Array =>
  new TextEncoder().encode(
    chunks.map((chunk) => `data: ${jsonText(chunk)}\n\n`).join('') + 'data: [DONE]\n\n',
  );

/** A stream of events that are named for their type. */
export const namedStream = (
  events: readonly ({ readonly type: string } & { readonly [field: string]: WideJson })[],
) =>
  new TextEncoder().encode(
    events.map((event) => `event: ${event.type}\ndata: ${jsonText(event)}\n\n`).join(''),
  );

const chunk = (delta: WideJson, finish: string | null = null): WideJson => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1694268190, model: 'gpt-4o-mini' },
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
});
const callDelta = (index: number, call: { readonly [field: string]: WideJson }): WideJson =>
  chunk({ tool_calls: [{ index, ...call }] });

/** A text and two calls, then the usage. */
export const CHAT = chatStream([
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'I ' }),
  chunk({ content: 'look.' }),
  callDelta(0, { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '' } }),
  callDelta(0, { function: { arguments: '{"city":' } }),
  callDelta(0, { function: { arguments: ' "Paris"}' } }),
  callDelta(1, { id: 'call_2', type: 'function', function: { name: 'get_time', arguments: '' } }),
  callDelta(1, { function: { arguments: '{}' } }),
  chunk({}, 'tool_calls'),
  {
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1694268190, model: 'gpt-4o-mini' },
    choices: [],
    usage: { prompt_tokens: 82, completion_tokens: 17, total_tokens: 99 },
  },
]);

const blockDelta = (index: number, delta: WideJson) => ({ type: 'content_block_delta', index, delta });

/** A thought, a text with a citation and a call. */
export const ANTHROPIC = namedStream([
  {
    type: 'message_start',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [] },
      ...{ stop_reason: null, stop_sequence: null },
      usage: {
        input_tokens: 472,
        cache_read_input_tokens: 20,
        cache_creation_input_tokens: 0,
        output_tokens: 2,
      },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'ping' },
  blockDelta(0, { type: 'thinking_delta', thinking: 'A city' }),
  blockDelta(0, { type: 'thinking_delta', thinking: ', é 😀' }),
  blockDelta(0, { type: 'signature_delta', signature: 'EqQB' }),
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  blockDelta(1, { type: 'text_delta', text: 'I ' }),
  blockDelta(1, { type: 'text_delta', text: 'look.' }),
  blockDelta(1, { type: 'citations_delta', citation: { type: 'char_location', document_index: 0 } }),
  { type: 'content_block_stop', index: 1 },
  {
    ...{ type: 'content_block_start', index: 2 },
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} },
  },
  blockDelta(2, { type: 'input_json_delta', partial_json: '' }),
  blockDelta(2, { type: 'input_json_delta', partial_json: '{"location": "San Fra' }),
  blockDelta(2, { type: 'input_json_delta', partial_json: 'ncisco", "days": 2}' }),
  { type: 'content_block_stop', index: 2 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 89, output_tokens_details: { thinking_tokens: 7 } },
  },
  { type: 'message_stop' },
]);

const response = {
  ...{ id: 'resp_1', object: 'response', created_at: 1741290958, status: 'in_progress', error: null },
  ...{ incomplete_details: null, model: 'gpt-5', output: [], usage: null },
};
const said = {
  type: 'output_text',
  text: 'I look.',
  annotations: [{ type: 'url_citation', url: 'https://a.example' }],
};
const reasoning = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'A city.' }] };
const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [said] };
const call = {
  ...{ id: 'fc_1', type: 'function_call', status: 'completed', call_id: 'call_1' },
  ...{ name: 'get_weather', arguments: '{"city":"Paris"}' },
};
const of = (output_index: number, item_id: string, fields: { readonly [field: string]: WideJson } = {}) => ({
  ...{ output_index, item_id },
  ...fields,
});

/** The events of OpenAI's Responses API before the last one: a thought, a text and a call. */
export const RESPONSES_BEGIN = [
  { type: 'response.created', response },
  { type: 'response.in_progress', response },
  { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
  {
    type: 'response.reasoning_summary_part.added',
    ...of(0, 'rs_1', { summary_index: 0, part: { type: 'summary_text', text: '' } }),
  },
  { type: 'response.reasoning_summary_text.delta', ...of(0, 'rs_1', { summary_index: 0, delta: 'A ' }) },
  { type: 'response.reasoning_summary_text.delta', ...of(0, 'rs_1', { summary_index: 0, delta: 'city.' }) },
  { type: 'response.reasoning_summary_text.done', ...of(0, 'rs_1', { summary_index: 0, text: 'A city.' }) },
  { type: 'response.output_item.done', output_index: 0, item: reasoning },
  {
    ...{ type: 'response.output_item.added', output_index: 1 },
    item: { ...message, status: 'in_progress', content: [] },
  },
  {
    type: 'response.content_part.added',
    ...of(1, 'msg_1', { content_index: 0, part: { type: 'output_text', text: '', annotations: [] } }),
  },
  { type: 'response.output_text.delta', ...of(1, 'msg_1', { content_index: 0, delta: 'I ' }) },
  { type: 'response.output_text.delta', ...of(1, 'msg_1', { content_index: 0, delta: 'look.' }) },
  {
    type: 'response.output_text.annotation.added',
    ...of(1, 'msg_1', { content_index: 0, annotation_index: 0, annotation: said.annotations[0] as WideJson }),
  },
  { type: 'response.output_text.done', ...of(1, 'msg_1', { content_index: 0, text: 'I look.' }) },
  { type: 'response.content_part.done', ...of(1, 'msg_1', { content_index: 0, part: said }) },
  { type: 'response.output_item.done', output_index: 1, item: message },
  {
    ...{ type: 'response.output_item.added', output_index: 2 },
    item: { ...call, status: 'in_progress', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', ...of(2, 'fc_1', { delta: '{"city":' }) },
  { type: 'response.function_call_arguments.delta', ...of(2, 'fc_1', { delta: '"Paris"}' }) },
  { type: 'response.function_call_arguments.done', ...of(2, 'fc_1', { arguments: '{"city":"Paris"}' }) },
  { type: 'response.output_item.done', output_index: 2, item: call },
];

/** The whole response at the end of the stream. */
export const RESPONSE = {
  ...{ ...response, status: 'completed', output: [reasoning, message, call] },
  usage: {
    ...{ input_tokens: 36, output_tokens: 87, total_tokens: 123 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 64 } },
  },
};

export const RESPONSES = namedStream([
  ...RESPONSES_BEGIN,
  { type: 'response.completed', response: RESPONSE },
]);
