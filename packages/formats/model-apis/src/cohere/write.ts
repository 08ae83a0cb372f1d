import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { hasText, type AnswerContent, type AnswerWriter, type EventToWrite } from '../answer-writer.ts';
import { isList } from '../body.ts';
import { serverSentEvents } from '../event-writer.ts';
import { jsonText } from '../json-text.ts';
import { contentFor, plainText, type PartForm } from '../write/content.ts';

const cohereParts: PartForm = {
  text: (_role, part) => plainText(part),
  image: (part, url) => (part['type'] === 'image_url' ? part : { type: 'image_url', image_url: { url } }),
  // That of Anthropic's API is signed.
  isOwnNote: ({ type, thinking, signature }) =>
    type === 'thinking' && typeof thinking === 'string' && signature === undefined,
};

/** What other APIs noted beside a message. */
const FOREIGN = [
  ...['same_message', 'message_fields', 'item', 'items', 'part', 'is_error', 'name', 'refusal'],
  ...['annotations', 'audio', 'thinking', 'images', 'function_call'],
];
const FOREIGN_IN_CALL = ['before', 'item', 'part', 'cache_control', 'thoughtSignature', 'call'];

/** A message as Cohere takes it. */
export const cohereItem = (message: WideJsonObject): WideJsonObject => {
  const { role, content, tool_calls: calls, ...rest } = message;
  const own = Object.fromEntries(Object.entries(rest).filter(([name]) => !FOREIGN.includes(name)));
  const made = content === undefined ? undefined : contentOf(role as string, content);
  const isEmpty = isList(calls) && (made === null || made === '' || (isList(made) && made.length === 0));
  return {
    role: role === 'developer' ? 'system' : (role ?? 'user'),
    ...(made === undefined || isEmpty ? {} : { content: made ?? '' }),
    ...(isList(calls) ? { tool_calls: calls.map(callItem) } : {}),
    ...own,
  };
};

const contentOf = (role: string, content: WideJson): WideJson =>
  typeof content === 'object' && content !== null && !isList(content)
    ? jsonText(content)
    : contentFor(cohereParts, role, content);

const callItem = (call: WideJson): WideJson =>
  typeof call === 'object' && call !== null && !isList(call)
    ? Object.fromEntries(Object.entries(call).filter(([name]) => !FOREIGN_IN_CALL.includes(name)))
    : call;

const USAGE = {
  billed_units: { input_tokens: 0, output_tokens: 0 },
  tokens: { input_tokens: 0, output_tokens: 0 },
};

const endOf = ({ calls }: AnswerContent): string => (calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE');

const callsOf = ({ calls }: AnswerContent): readonly WideJsonObject[] =>
  calls.map(({ id, name, arguments: given }) => ({
    ...{ id, type: 'function', function: { name, arguments: given } },
  }));

/** A response, or its events. */
export const cohereWriter: AnswerWriter = {
  whole: (said) => {
    const calls = callsOf(said);
    return {
      id: said.id,
      finish_reason: endOf(said),
      message: {
        role: 'assistant',
        ...(hasText(said) ? { content: [{ type: 'text', text: said.text }] } : {}),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      usage: USAGE,
    };
  },
  events: (said) => [
    {
      ...{ type: 'message-start', id: said.id },
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    },
    ...(hasText(said) ? textEvents(said.text) : []),
    ...callsOf(said).flatMap((call, index): readonly EventToWrite[] => [
      { type: 'tool-call-start', index, delta: { message: { tool_calls: call } } },
      { type: 'tool-call-end', index },
    ]),
    { type: 'message-end', delta: { finish_reason: endOf(said), usage: USAGE } },
  ],
  ...serverSentEvents(),
};

const textEvents = (text: string): readonly EventToWrite[] => [
  { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
  { type: 'content-delta', index: 0, delta: { message: { content: { text } } } },
  { type: 'content-end', index: 0 },
];
