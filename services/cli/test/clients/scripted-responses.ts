import { eventStream, field, inPieces, json, list, scriptedAnswer, type ScriptedBody } from './script.ts';

/** OpenAI's Responses, as their reference describes them. */
export const response = (request: unknown, number: number): ScriptedBody => {
  const { thinking, text, calls } = scriptedAnswer({
    number,
    tools: list(field(request, 'tools')).map((tool) => String(field(tool, 'name'))),
    results: list(field(request, 'input')).filter((item) => field(item, 'type') === 'function_call_output')
      .length,
    thinks: field(field(request, 'reasoning'), 'effort') !== undefined,
  });
  const items: Item[] = [];
  if (thinking !== null)
    items.push({
      id: `rs_67ccf18f${number}`,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: thinking }],
    });
  for (const call of calls)
    items.push({
      id: `fc_67ccf18f${call.id}`,
      type: 'function_call',
      status: 'completed',
      arguments: JSON.stringify(call.arguments),
      call_id: `call_${call.id}`,
      name: call.name,
    });
  if (text !== null)
    items.push({
      id: `msg_67ccd3ac${number}`,
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    });
  const whole = responseOf(request, number, items);
  return field(request, 'stream') === true ? streamed(whole, items) : json(whole);
};

type Item = { readonly id: string } & (
  | {
      readonly type: 'reasoning';
      readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[];
    }
  | {
      readonly type: 'function_call';
      readonly status: string;
      readonly arguments: string;
      readonly call_id: string;
      readonly name: string;
    }
  | {
      readonly type: 'message';
      readonly status: string;
      readonly role: 'assistant';
      readonly content: readonly {
        readonly type: 'output_text';
        readonly text: string;
        readonly annotations: readonly [];
        readonly logprobs: readonly [];
      }[];
    }
);

const responseOf = (request: unknown, number: number, output: readonly Item[]) => ({
  id: `resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b${number}`,
  object: 'response',
  created_at: 1_741_476_542,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: field(request, 'instructions') ?? null,
  max_output_tokens: null,
  model: field(request, 'model'),
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: field(request, 'tools') ?? [],
  top_p: 1,
  truncation: 'disabled',
  usage: {
    input_tokens: 36,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 87,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 123,
  },
  user: null,
  metadata: {},
});

const streamed = (whole: ReturnType<typeof responseOf>, items: readonly Item[]): ScriptedBody => {
  const events: string[] = [];
  const send = (type: string, fields: object): void => {
    events.push(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: events.length, ...fields })}\n\n`,
    );
  };
  const open = { ...whole, status: 'in_progress', output: [], usage: null };
  send('response.created', { response: open });
  send('response.in_progress', { response: open });
  items.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    switch (item.type) {
      case 'reasoning': {
        send('response.output_item.added', { output_index, item: { ...item, summary: [] } });
        item.summary.forEach((part, summary_index) => {
          const where = { ...at, summary_index };
          send('response.reasoning_summary_part.added', { ...where, part: { ...part, text: '' } });
          for (const delta of inPieces(part.text))
            send('response.reasoning_summary_text.delta', { ...where, delta });
          send('response.reasoning_summary_text.done', { ...where, text: part.text });
          send('response.reasoning_summary_part.done', { ...where, part });
        });
        break;
      }
      case 'function_call': {
        const begun = { ...item, status: 'in_progress', arguments: '' };
        send('response.output_item.added', { output_index, item: begun });
        for (const delta of inPieces(item.arguments))
          send('response.function_call_arguments.delta', { ...at, delta });
        send('response.function_call_arguments.done', { ...at, arguments: item.arguments });
        break;
      }
      case 'message': {
        const begun = { ...item, status: 'in_progress', content: [] };
        send('response.output_item.added', { output_index, item: begun });
        item.content.forEach((part, content_index) => {
          const where = { ...at, content_index };
          send('response.content_part.added', { ...where, part: { ...part, text: '' } });
          for (const delta of inPieces(part.text))
            send('response.output_text.delta', { ...where, delta, logprobs: [] });
          send('response.output_text.done', { ...where, text: part.text, logprobs: [] });
          send('response.content_part.done', { ...where, part });
        });
      }
    }
    send('response.output_item.done', { output_index, item });
  });
  send('response.completed', { response: whole });
  return eventStream(events.join(''));
};
