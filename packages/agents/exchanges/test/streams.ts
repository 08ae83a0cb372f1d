/** Answers of each API as streams, of which one part is cut into deltas. */
export const APIS = ['openai.chat', 'openai.responses', 'anthropic.messages'] as const;
export type Api = (typeof APIS)[number];

export const PARTS = ['text', 'thinking', 'arguments', 'model', 'id'] as const;
export type Part = (typeof PARTS)[number];

export const PATHS: Readonly<Record<Api, string>> = {
  'openai.chat': '/v1/chat/completions',
  'openai.responses': '/v1/responses',
  'anthropic.messages': '/v1/messages',
};

type Names = { readonly model: string; readonly id: string };
type Delta = (part: Part, text: string, names: Names) => object;

const CHAT: Delta = (part, text, names) => {
  const call = { index: 0, id: 't1', type: 'function', function: { name: 'save', arguments: text } };
  const delta =
    part === 'arguments'
      ? { tool_calls: [call] }
      : part === 'thinking'
        ? { reasoning_content: text }
        : { content: text };
  return {
    ...names,
    choices: [{ index: 0, delta, finish_reason: null, logprobs: { content: [{ token: text }] } }],
  };
};

const ANTHROPIC: Delta = (part, text) => {
  const delta =
    part === 'arguments'
      ? { type: 'input_json_delta', partial_json: text }
      : part === 'thinking'
        ? { type: 'thinking_delta', thinking: text }
        : { type: 'text_delta', text };
  return { type: 'content_block_delta', index: 0, delta };
};

const RESPONSES: Delta = (part, delta) => {
  if (part === 'arguments') return { type: 'response.function_call_arguments.delta', output_index: 0, delta };
  const index = { output_index: 0, content_index: 0, summary_index: 0 };
  return {
    type: part === 'thinking' ? 'response.reasoning_summary_text.delta' : 'response.output_text.delta',
    ...index,
    delta,
  };
};

const event = (value: object): string => {
  const { type } = value as { readonly type?: string };
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(value)}\n\n`;
};

const itemOf = (part: Part, text: string): object => {
  if (part === 'arguments')
    return { type: 'function_call', id: 'f', call_id: 't1', name: 'save', arguments: text };
  if (part === 'thinking') return { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text }] };
  return {
    type: 'message',
    id: 'm',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
};

const blockOf = (part: Part): object => {
  if (part === 'arguments') return { type: 'tool_use', id: 't1', name: 'save', input: {} };
  return part === 'thinking' ? { type: 'thinking', thinking: '', signature: '' } : { type: 'text', text: '' };
};

/** @param pieces of the part; of a name or an id all together, as no API cuts one */
export const streamOf = (api: Api, part: Part, pieces: readonly string[]): string => {
  const whole = pieces.join('');
  const names = { model: part === 'model' ? whole : 'm-1', id: part === 'id' ? whole : 'x' };
  const texts = part === 'model' || part === 'id' ? ['fine'] : pieces;
  if (api === 'openai.chat') {
    const end = { ...names, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    return `${texts.map((text) => event(CHAT(part, text, names))).join('')}${event(end)}data: [DONE]\n\n`;
  }
  if (api === 'anthropic.messages') {
    const message = { ...names, type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1 } };
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: blockOf(part) },
      ...texts.map((text) => ANTHROPIC(part, text, names)),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ]
      .map(event)
      .join('');
  }
  const item = itemOf(part, texts.join(''));
  return [
    { type: 'response.created', response: { ...names, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: itemOf(part, '') },
    ...texts.map((text) => RESPONSES(part, text, names)),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...names, status: 'completed', output: [item] } },
  ]
    .map(event)
    .join('');
};
