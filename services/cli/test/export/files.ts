type Part = Readonly<Record<string, unknown>>;

const TOOL = {
  type: 'function',
  function: {
    name: 'depth',
    description: 'Metres of water.',
    parameters: { type: 'object', properties: { pier: { type: 'string' } } },
  },
};
const at = (second: number): string => new Date(Date.UTC(2026, 8, 1, 10, 0, second)).toISOString();

const ASKS = { role: 'user', content: 'How deep is it at pier 2?' };
const CALLS = {
  role: 'assistant',
  content: 'I look.',
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"pier":"2"}' } }],
};
const RESULT = { role: 'tool', tool_call_id: 'c1', content: '7 m' };
const SAYS = { role: 'assistant', content: 'Seven metres.' };

/** One conversation of a file of conversations, with tools. */
export const chatLines = (): string =>
  `${JSON.stringify({ messages: [{ role: 'system', content: 'You help.' }, ASKS, CALLS, RESULT, SAYS], tools: [TOOL] })}\n`;

/** A trajectory with thinking, a tool that failed, and answers that are no calls. */
export const atifFile = (): string =>
  JSON.stringify({
    schema_version: 'ATIF-v1.7',
    session_id: 'harbour',
    agent: { name: 'pilot', version: '1.2.0', model_name: 'gpt-x', tool_definitions: [TOOL] },
    steps: [
      { step_id: 1, source: 'system', message: 'You help.' },
      { step_id: 2, source: 'user', message: 'How deep is it at pier 2?', timestamp: at(0) },
      {
        ...{
          step_id: 3,
          source: 'agent',
          timestamp: at(1),
          message: 'I look.',
          reasoning_content: 'A tool knows.',
        },
        tool_calls: [
          { tool_call_id: 'c1', function_name: 'depth', arguments: { pier: '2' } },
          { tool_call_id: 'c2', function_name: 'depth', arguments: { pier: '3' } },
        ],
        observation: {
          results: [
            { source_call_id: 'c1', content: '7 m' },
            { source_call_id: 'c2', content: 'no such pier', extra: { is_error: true } },
          ],
        },
        metrics: {
          prompt_tokens: 40,
          completion_tokens: 9,
          cached_tokens: 12,
          extra: { reasoning_tokens: 3 },
        },
      },
      {
        step_id: 4,
        source: 'agent',
        model_name: 'gpt-y',
        message: 'Seven metres.',
        timestamp: at(2),
        metrics: { prompt_tokens: 61 },
      },
      { step_id: 5, source: 'user', message: 'Thank you.', timestamp: at(9) },
      { step_id: 6, source: 'agent', message: 'You are welcome.', timestamp: at(10) },
    ],
  });

const attribute = ([key, value]: readonly [string, unknown]): Part => ({
  key,
  value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
});
const text = (role: string, content: string): Part => ({ role, parts: [{ type: 'text', content }] });

/** Two calls of one conversation, and one that goes on otherwise from the first: a branch. */
export const otlpFile = (): string => {
  const asked = [text('system', 'You help.'), text('user', 'How deep is it at pier 2?')];
  const called = {
    role: 'assistant',
    parts: [
      { type: 'reasoning', content: 'A tool knows.' },
      { type: 'text', content: 'I look.' },
      { type: 'tool_call', id: 'c1', name: 'depth', arguments: { pier: '2' } },
    ],
  };
  const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '7 m' }] };
  const span = (id: number, shown: readonly Part[], answer: Part): string =>
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: [] },
          scopeSpans: [
            {
              spans: [
                {
                  ...{ traceId: 'a'.repeat(32), spanId: String(id).repeat(16), name: 'chat gpt-x', kind: 3 },
                  startTimeUnixNano: `${Date.parse(at(id))}000000`,
                  endTimeUnixNano: `${Date.parse(at(id)) + 250}000000`,
                  attributes: Object.entries({
                    'gen_ai.operation.name': 'chat',
                    'gen_ai.conversation.id': 'harbour',
                    'gen_ai.request.model': 'gpt-x',
                    'gen_ai.request.max_tokens': 100,
                    'gen_ai.usage.input_tokens': 20 + id,
                    'gen_ai.usage.output_tokens': id,
                    'gen_ai.usage.cache_read.input_tokens': 7,
                    'gen_ai.tool.definitions': JSON.stringify([TOOL]),
                    'gen_ai.input.messages': JSON.stringify(shown),
                    'gen_ai.output.messages': JSON.stringify([{ ...answer, finish_reason: 'stop' }]),
                  }).map(attribute),
                },
              ],
            },
          ],
        },
      ],
    });
  return [
    span(1, asked, called),
    span(2, [...asked, called, result], text('assistant', 'Seven metres.')),
    span(
      3,
      [...asked, called, { ...result, parts: [{ type: 'tool_call_response', id: 'c1', response: '9 m' }] }],
      text('assistant', 'Nine metres.'),
    ),
  ].join('\n');
};

/** A call that was answered in a stream, and one whose answer is an error. */
export const cassette = (): string => {
  const request = (messages: readonly unknown[]): string =>
    JSON.stringify({ model: 'gpt-x', messages, stream: true, tools: [TOOL] });
  const interaction = (body: string, status: number, type: string, answer: string, second: number): string =>
    `- request:\n    body: ${JSON.stringify(body)}\n    headers:\n      content-type: [application/json]\n` +
    `    method: POST\n    uri: https://api.openai.com/v1/chat/completions\n` +
    `  response:\n    body: {string: ${JSON.stringify(answer)}}\n    headers:\n      content-type: [${type}]\n` +
    `    status: {code: ${status}, message: Word}\n  recorded_at: "${at(second)}"\n`;
  const event = (delta: unknown, finish: string | null): string =>
    `data: ${JSON.stringify({ model: 'gpt-x-1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const stream =
    event({ role: 'assistant', content: 'Seven – ' }, null) +
    event({ content: 'metres ⚓.' }, 'stop') +
    `data: ${JSON.stringify({ model: 'gpt-x-1', choices: [], usage: { prompt_tokens: 12, completion_tokens: 5 } })}\n\ndata: [DONE]\n\n`;
  const asked = [{ role: 'system', content: 'You help.' }, ASKS];
  const more = [
    ...asked,
    { role: 'assistant', content: 'Seven – metres ⚓.' },
    { role: 'user', content: 'And pier 3?' },
  ];
  return (
    'interactions:\n' +
    interaction(request(asked), 200, 'text/event-stream', stream, 0) +
    interaction(
      request(more),
      429,
      'application/json',
      '{"error":{"message":"slow down","code":"rate_limit"}}',
      4,
    ) +
    'version: 1\n'
  );
};

/** A sample with a tool that failed, an image, thinking, and a call that somebody stopped. */
export const inspectLog = (): string => {
  const system = { role: 'system', content: 'You help.' };
  const asks = {
    role: 'user',
    content: [
      { type: 'text', text: 'How deep is it here?' },
      { type: 'image', image: 'data:image/png;base64,iVBORw0KGgo=' },
    ],
  };
  const called = {
    role: 'assistant',
    content: [
      { type: 'reasoning', reasoning: 'A tool knows.', signature: 'sig' },
      { type: 'text', text: 'I look.' },
    ],
    tool_calls: [{ id: 'c1', function: 'depth', arguments: { pier: '2' }, type: 'function' }],
  };
  const result = {
    ...{ role: 'tool', tool_call_id: 'c1', function: 'depth', content: 'no such pier' },
    error: { type: 'unknown', message: 'no such pier' },
  };
  const event = (second: number, input: readonly Part[], more: Part): Part => ({
    ...{ event: 'model', timestamp: at(second), completed: at(second + 2), model: 'openai/gpt-x', input },
    tools: [
      { name: 'depth', description: 'Metres of water.', parameters: { type: 'object', properties: {} } },
    ],
    ...{ tool_choice: 'auto', config: { temperature: 0, max_tokens: 100 } },
    ...more,
  });
  const output = (message: Part, tokens: number): Part => ({
    model: 'openai/gpt-x',
    choices: [{ message, stop_reason: 'stop' }],
    usage: { input_tokens: tokens, output_tokens: 4, total_tokens: tokens + 10, input_tokens_cache_read: 6 },
  });
  return JSON.stringify({
    ...{ version: 2, status: 'success' },
    eval: {
      ...{
        eval_id: 'e1',
        run_id: 'r1',
        created: at(0),
        task: 'harbour',
        task_id: 't1',
        model: 'openai/gpt-x',
      },
      ...{ dataset: {}, config: {}, packages: { inspect_ai: '0.3.285' } },
    },
    samples: [
      {
        ...{ id: 'pier', epoch: 1, input: 'How deep is it here?', target: '7', messages: [], output: {} },
        events: [
          event(0, [system, asks], { output: output(called, 20) }),
          event(4, [system, asks, called, result], {
            output: output({ role: 'assistant', content: 'Nobody knows.' }, 30),
          }),
          event(
            8,
            [
              system,
              asks,
              called,
              result,
              { role: 'assistant', content: 'Nobody knows.' },
              { role: 'user', content: 'Try.' },
            ],
            {
              output: { choices: [] },
              error: 'Cancelled by operator',
            },
          ),
        ],
      },
    ],
  });
};
