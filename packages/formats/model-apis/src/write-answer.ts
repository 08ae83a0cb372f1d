import { parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import type { ModelApi } from './api-of.ts';
import { isList, objectOrEmpty, textOrNull } from './body.ts';
import { jsonText } from './json-text.ts';
import { textOfContent } from './write/content.ts';

/** An answer that no model gave. */
export type AnswerToWrite = {
  /** The message of the assistant in the form of OpenAI's chat API: text, calls of tools, or both. */
  readonly message: WideJsonObject;
  readonly model: string;
  /** What its ids end with; of two answers in one conversation it is not the same. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly at: number;
  readonly stream: boolean;
};

export type WrittenAnswer = { readonly contentType: string; readonly body: Uint8Array };

type ToolCall = { readonly id: string; readonly name: string; readonly arguments: string };
type Said = Pick<AnswerToWrite, 'model' | 'id' | 'at'> & {
  readonly text: string;
  readonly calls: readonly ToolCall[];
};
type Event = { readonly [name: string]: WideJson };
type Writer = {
  readonly whole: (said: Said) => WideJsonObject;
  readonly events: (said: Said) => readonly Event[];
  /** What stands behind the last event. */
  readonly end: string;
};

/** An answer in the form of an API: one body, or a stream of events. No token was used. */
export const writeAnswer = (
  api: Exclude<ModelApi, 'other'>,
  { message, stream, ...given }: AnswerToWrite,
): WrittenAnswer => {
  const said = { ...given, text: textOfContent(message['content'] ?? ''), calls: callsIn(message, given.id) };
  const { whole, events, end } = WRITERS[api];
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  if (!stream) return { contentType: 'application/json', body: encode(jsonText(whole(said))) };
  const named = events(said).map((event) => {
    const type = textOrNull(event['type']);
    return `${type === null ? '' : `event: ${type}\n`}data: ${jsonText(event)}\n\n`;
  });
  return { contentType: 'text/event-stream', body: encode(named.join('') + end) };
};

const callsIn = ({ tool_calls: calls }: WideJsonObject, id: string): readonly ToolCall[] =>
  (isList(calls) ? calls : []).map((call, i) => {
    const { id: own, function: called, custom } = objectOrEmpty(call);
    const { name, arguments: given, input } = objectOrEmpty(called ?? custom);
    return {
      id: textOrNull(own) ?? `call_${id}_${i}`,
      name: textOrNull(name) ?? '',
      arguments: textOrNull(given ?? input) ?? jsonText(given ?? {}),
    };
  });

const chatChoice = (
  field: 'message' | 'delta',
  value: WideJsonObject,
  end: string | null,
): WideJsonObject => ({
  index: 0,
  [field]: value,
  finish_reason: end,
  logprobs: null,
});

const chatCalls = (calls: readonly ToolCall[], isStream: boolean): WideJsonObject =>
  calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(({ id, name, arguments: given }, index) => ({
          ...(isStream ? { index } : {}),
          ...{ id, type: 'function', function: { name, arguments: given } },
        })),
      };

const chatEnd = ({ calls }: Said): string => (calls.length > 0 ? 'tool_calls' : 'stop');

const chat: Writer = {
  whole: (said) => {
    const { id, at, model, text, calls } = said;
    const content = text === '' && calls.length > 0 ? null : text;
    const message = { role: 'assistant', content, ...chatCalls(calls, false) };
    return {
      ...{ id: `chatcmpl-${id}`, object: 'chat.completion', created: at, model },
      choices: [chatChoice('message', message, chatEnd(said))],
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    };
  },
  events: (said) => {
    const { id, at, model, text, calls } = said;
    const chunk = (delta: WideJsonObject, end: string | null): Event => ({
      ...{ id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: at, model },
      choices: [chatChoice('delta', delta, end)],
    });
    const first = { role: 'assistant', content: text === '' && calls.length > 0 ? null : text };
    return [chunk({ ...first, ...chatCalls(calls, true) }, null), chunk({}, chatEnd(said))];
  },
  end: 'data: [DONE]\n\n',
};

const responseItems = ({ id, text, calls }: Said): readonly (WideJsonObject & { readonly id: string })[] => [
  ...(text === '' && calls.length > 0
    ? []
    : [
        {
          ...{ id: `msg_${id}`, type: 'message', status: 'completed', role: 'assistant' },
          content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
        },
      ]),
  ...calls.map(({ id: call, name, arguments: given }, i) => ({
    ...{ id: `fc_${id}_${i}`, type: 'function_call', status: 'completed' },
    ...{ call_id: call, name, arguments: given },
  })),
];

const responseWith = (
  { id, at, model }: Said,
  status: string,
  output: readonly WideJson[],
): WideJsonObject => ({
  ...{ id: `resp_${id}`, object: 'response', created_at: at, status, model, output },
  ...{ error: null, incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true },
  ...{ temperature: null, tool_choice: 'auto', tools: [], top_p: null },
  usage: {
    ...{ input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
});

/** The events of one item of a response. */
const itemEvents = (
  item: WideJsonObject & { readonly id: string },
  output_index: number,
): readonly Event[] => {
  const at = { item_id: item.id, output_index };
  const added = { ...item, status: 'in_progress' };
  const done = { type: 'response.output_item.done', output_index, item };
  if (item['type'] === 'function_call') {
    const given = item['arguments'] ?? '';
    return [
      { type: 'response.output_item.added', output_index, item: { ...added, arguments: '' } },
      { type: 'response.function_call_arguments.delta', ...at, delta: given },
      { type: 'response.function_call_arguments.done', ...at, name: item['name'] ?? '', arguments: given },
      done,
    ];
  }
  const [part] = isList(item['content']) ? item['content'] : [];
  const text = objectOrEmpty(part)['text'] ?? '';
  const where = { ...at, content_index: 0 };
  const open = { ...objectOrEmpty(part), text: '' };
  return [
    { type: 'response.output_item.added', output_index, item: { ...added, content: [] } },
    { type: 'response.content_part.added', ...where, part: open },
    { type: 'response.output_text.delta', ...where, delta: text, logprobs: [] },
    { type: 'response.output_text.done', ...where, text, logprobs: [] },
    { type: 'response.content_part.done', ...where, part: part ?? null },
    done,
  ];
};

const responses: Writer = {
  whole: (said) => responseWith(said, 'completed', responseItems(said)),
  events: (said) => {
    const items = responseItems(said);
    const open = { ...responseWith(said, 'in_progress', []), usage: null };
    const events: readonly Event[] = [
      { type: 'response.created', response: open },
      { type: 'response.in_progress', response: open },
      ...items.flatMap(itemEvents),
      { type: 'response.completed', response: responseWith(said, 'completed', items) },
    ];
    return events.map((event, sequence_number) => ({ ...event, sequence_number }));
  },
  end: '',
};

const anthropicBlocks = ({ text, calls }: Said): readonly WideJsonObject[] => [
  ...(text === '' && calls.length > 0 ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, arguments: given }) => ({ type: 'tool_use', id, name, input: inputOf(given) })),
];

/** The arguments as an object, as the API has them. */
const inputOf = (text: string): WideJson => {
  try {
    return parseWideJson(text);
  } catch (error) {
    if (isStemmaError(error)) return {};
    throw error;
  }
};

const anthropicWith = (
  { id, model }: Said,
  content: readonly WideJsonObject[],
  end: string | null,
): WideJsonObject => ({
  ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model, content },
  ...{ stop_reason: end, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } },
});

const anthropicEnd = ({ calls }: Said): string => (calls.length > 0 ? 'tool_use' : 'end_turn');

const anthropic: Writer = {
  whole: (said) => anthropicWith(said, anthropicBlocks(said), anthropicEnd(said)),
  events: (said) => [
    { type: 'message_start', message: anthropicWith(said, [], null) },
    ...anthropicBlocks(said).flatMap((block, index): readonly Event[] => {
      const isText = block['type'] === 'text';
      const delta = isText
        ? { type: 'text_delta', text: block['text'] ?? '' }
        : { type: 'input_json_delta', partial_json: jsonText(block['input'] ?? {}) };
      const open = isText ? { ...block, text: '' } : { ...block, input: {} };
      return [
        { type: 'content_block_start', index, content_block: open },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ];
    }),
    {
      type: 'message_delta',
      delta: { stop_reason: anthropicEnd(said), stop_sequence: null },
      usage: { output_tokens: 0 },
    },
    { type: 'message_stop' },
  ],
  end: '',
};

const WRITERS: { readonly [api in Exclude<ModelApi, 'other'>]: Writer } = {
  'openai.chat': chat,
  'openai.responses': responses,
  'anthropic.messages': anthropic,
};
