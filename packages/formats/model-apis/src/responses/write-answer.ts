import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { AnswerWriter, EventToWrite, AnswerContent } from '../answer-writer.ts';
import { isList, objectOrEmpty } from '../body.ts';
import { serverSentEvents } from '../event-writer.ts';

const responseItems = ({
  id,
  text,
  calls,
}: AnswerContent): readonly (WideJsonObject & { readonly id: string })[] => [
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
  { id, at, model }: AnswerContent,
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
): readonly EventToWrite[] => {
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

/** A response, or the events of one. */
export const responsesWriter: AnswerWriter = {
  whole: (said) => responseWith(said, 'completed', responseItems(said)),
  events: (said) => {
    const items = responseItems(said);
    const open = { ...responseWith(said, 'in_progress', []), usage: null };
    const events: readonly EventToWrite[] = [
      { type: 'response.created', response: open },
      { type: 'response.in_progress', response: open },
      ...items.flatMap(itemEvents),
      { type: 'response.completed', response: responseWith(said, 'completed', items) },
    ];
    return events.map((event, sequence_number) => ({ ...event, sequence_number }));
  },
  ...serverSentEvents(),
};
