import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { Api, Chance, MadeCall, Said, SaidCall } from './generated-agents.ts';

/** How the bodies of an API hold a call and its answer. `chance` decides which of several forms of the same a client writes. */
type Wire = {
  readonly path: string;
  readonly request: (call: MadeCall, chance: Chance) => WideJsonObject;
  readonly response: (call: MadeCall) => WideJsonObject;
};

const asked = ({ id, name, args }: SaidCall): WideJsonObject => ({
  ...{ id, type: 'function' },
  function: { name, arguments: JSON.stringify(args) },
});

const chatMessage = (message: Said): WideJsonObject => {
  if (message.role === 'user') return { role: 'user', content: message.text };
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.id, content: message.text };
  const { text, calls } = message;
  return {
    ...{ role: 'assistant', content: text === '' ? null : text },
    ...(calls.length > 0 && { tool_calls: calls.map(asked) }),
  };
};

const chat: Wire = {
  path: '/v1/chat/completions',
  request: ({ system, messages }, chance) => ({
    model: 'm',
    messages: [
      { role: 'system', content: system },
      ...messages.map((each) => ({
        ...chatMessage(each),
        ...(each.role === 'assistant' && chance.often(30) ? { refusal: null, annotations: [] } : {}),
      })),
    ],
  }),
  response: ({ answer }) => ({
    ...{ id: 'chatcmpl', object: 'chat.completion', model: 'm' },
    choices: [
      {
        ...{ index: 0, finish_reason: answer.calls.length > 0 ? 'tool_calls' : 'stop' },
        message: { ...chatMessage(answer), refusal: null },
      },
    ],
  }),
};

const outputOf = ({ text, calls }: MadeCall['answer'], id: string): readonly WideJsonObject[] => [
  ...(text === ''
    ? []
    : [
        {
          ...{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]),
  ...calls.map((each) => ({
    ...{ type: 'function_call', id: `fc_${each.id}`, call_id: each.id, name: each.name },
    ...{ arguments: JSON.stringify(each.args), status: 'completed' },
  })),
];

const inputOf = (message: Said, i: number): readonly WideJsonObject[] => {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.id, output: message.text }];
  return outputOf(message, String(i));
};

const responses: Wire = {
  path: '/v1/responses',
  request: ({ system, messages, previous }) => ({
    ...{ model: 'm', instructions: system },
    ...(previous && { previous_response_id: previous.id }),
    input: messages.flatMap((each, i) => (i < (previous?.messages ?? 0) ? [] : inputOf(each, i))),
  }),
  response: ({ id, answer }) => ({
    ...{ id: `resp_${id}`, object: 'response', status: 'completed', model: 'm' },
    output: outputOf(answer, id),
  }),
};

const blocksOf = ({ text, calls }: MadeCall['answer']): readonly WideJsonObject[] => [
  ...(text === '' ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
];

const anthropicMessages = (messages: readonly Said[], chance: Chance): readonly WideJsonObject[] => {
  const turns: { role: string; content: WideJson[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks: readonly WideJson[] =
      message.role === 'assistant'
        ? blocksOf(message)
        : message.role === 'user'
          ? [{ type: 'text', text: message.text }]
          : [{ type: 'tool_result', tool_use_id: message.id, content: message.text }];
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  }
  return turns.map(({ role, content }, i) => {
    const [only] = content as WideJsonObject[];
    if (content.length === 1 && only?.['type'] === 'text' && i < turns.length - 1 && chance.often(50))
      return { role, content: only['text'] as string };
    const marked =
      i === turns.length - 1
        ? content.with(-1, { ...(content.at(-1) as WideJsonObject), cache_control: { type: 'ephemeral' } })
        : content;
    return { role, content: marked };
  });
};

const anthropic: Wire = {
  path: '/v1/messages',
  request: ({ system, messages }, chance) => ({
    ...{ model: 'm', max_tokens: 100 },
    system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
    messages: anthropicMessages(messages, chance),
  }),
  response: ({ id, answer }) => ({
    ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model: 'm', content: blocksOf(answer) },
    ...{
      stop_reason: answer.calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  }),
};

export const WIRES: Readonly<Record<Api, Wire>> = { chat, responses, anthropic };
