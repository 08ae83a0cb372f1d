import type { WideJsonObject } from '@stemma/canonical';

/*
 * Requests as clients of agents send them, made of a list of messages in the form of OpenAI's chat API, and the answers that providers
 * give to them.
 */

export type ChatMessage = WideJsonObject & {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
};
type ToolCall = {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
};

/** How a client asks, and how its provider answers. */
export type PlayingClient = {
  /** Behind the address of the proxy. */
  readonly path: string;
  readonly request: (messages: readonly ChatMessage[], call: number) => WideJsonObject;
  readonly response: (answer: ChatMessage, call: number) => WideJsonObject;
};

const callsOf = ({ tool_calls }: ChatMessage): readonly ToolCall[] => tool_calls ?? [];
const textOf = ({ content }: ChatMessage): string => content ?? '';
const systemOf = (messages: readonly ChatMessage[]): string =>
  messages
    .filter(({ role }) => role === 'system')
    .map(textOf)
    .join('\n');
const cached = { cache_control: { type: 'ephemeral' } };

const textBlocks = (message: ChatMessage): readonly WideJsonObject[] =>
  textOf(message) === '' ? [] : [{ type: 'text', text: textOf(message) }];

const anthropicBlocks = (message: ChatMessage): readonly WideJsonObject[] =>
  message.role === 'tool'
    ? [{ type: 'tool_result', tool_use_id: message.tool_call_id ?? '', content: textOf(message) }]
    : [
        ...textBlocks(message),
        ...callsOf(message).map(({ id, function: { name, arguments: text } }) => ({
          ...{ type: 'tool_use', id, name },
          input: JSON.parse(text) as WideJsonObject,
        })),
      ];

/** Claude Code: a line for the books before the prompt, another one with each call; the cache is marked at both ends. */
const claudeCode: PlayingClient = {
  path: 'anthropic/v1/messages?beta=true',
  request: (messages, call) => {
    const turns: { role: string; content: WideJsonObject[] }[] = [];
    for (const message of messages.filter(({ role }) => role !== 'system')) {
      const role = message.role === 'assistant' ? 'assistant' : 'user';
      const last = turns.at(-1);
      if (last?.role === role) last.content.push(...anthropicBlocks(message));
      else turns.push({ role, content: [...anthropicBlocks(message)] });
    }
    const newest = turns.at(-1)?.content;
    const end = newest?.at(-1);
    if (newest !== undefined && end !== undefined) newest[newest.length - 1] = { ...end, ...cached };
    return {
      ...{ model: 'claude-x', max_tokens: 1_000 },
      system: [
        { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.332.${call}; cch=${call}a0;` },
        { type: 'text', text: systemOf(messages), ...cached },
      ],
      messages: turns,
    };
  },
  response: (answer, call) => ({
    ...{ id: `msg_${call}`, type: 'message', role: 'assistant', model: 'claude-x' },
    content: anthropicBlocks(answer),
    stop_reason: callsOf(answer).length > 0 ? 'tool_use' : 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
};

const itemsOf = (message: ChatMessage, id: string): readonly WideJsonObject[] => {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.tool_call_id ?? '', output: textOf(message) }];
  if (message.role !== 'assistant') return [{ role: message.role, content: textOf(message) }];
  return [
    ...(textOf(message) === ''
      ? []
      : [
          {
            ...{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' },
            content: [{ type: 'output_text', text: textOf(message), annotations: [], logprobs: [] }],
          },
        ]),
    ...callsOf(message).map(({ id: call_id, function: { name, arguments: text } }) => ({
      ...{ type: 'function_call', id: `fc_${call_id}`, call_id, name, arguments: text, status: 'completed' },
    })),
  ];
};

/** openai-agents: what came back is sent as the items that it was. */
const openaiAgents: PlayingClient = {
  path: 'openai/responses',
  request: (messages) => ({
    ...{ model: 'gpt-x', instructions: systemOf(messages), include: [], stream: false },
    input: messages.flatMap((message, i) => (message.role === 'system' ? [] : itemsOf(message, String(i)))),
  }),
  response: (answer, call) => ({
    ...{ id: `resp_${call}`, object: 'response', status: 'completed', model: 'gpt-x' },
    output: itemsOf(answer, `of_${call}`),
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  }),
};

/** LangGraph: an answer that calls tools is sent back with an empty text, and results without the name of their tool. */
const langGraph: PlayingClient = {
  path: 'openai/chat/completions',
  request: (messages) => ({
    model: 'gpt-x',
    messages: messages.map(({ name: _, ...message }) => ({
      ...message,
      ...(message.role === 'assistant' && { content: textOf(message as ChatMessage) }),
    })),
  }),
  response: (answer, call) => ({
    ...{ id: `chatcmpl-${call}`, object: 'chat.completion', model: 'gpt-x' },
    choices: [
      {
        ...{ index: 0, finish_reason: callsOf(answer).length > 0 ? 'tool_calls' : 'stop' },
        message: { ...answer, refusal: null, annotations: [] },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
};

export const PLAYING_CLIENTS = {
  'Claude Code': claudeCode,
  'openai-agents': openaiAgents,
  LangGraph: langGraph,
};
