import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatMessageAt } from '../src/index.ts';
import { itemList } from './any-request.ts';
import { messagesOf, readGood } from './read-good.ts';

describe('a request of OpenAI responses', () => {
  it('maps instructions and a text', () => {
    expect(
      readGood('openai.responses', {
        ...{ model: 'gpt-5', instructions: 'Be brief.', input: 'Hello', previous_response_id: 'resp_1' },
      }),
    ).toEqual({
      ok: true,
      model: 'gpt-5',
      stream: false,
      parameters: { previous_response_id: 'resp_1' },
      tools: [],
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      mapping: 'openai.responses@1',
      previous: 'resp_1',
    });
  });

  it('maps items: what the model made in one go is one assistant message', () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] };
    const said = { type: 'output_text', text: 'I look.', annotations: [] };
    const call = {
      type: 'function_call',
      call_id: 'call_1',
      name: 'get_weather',
      arguments: '{"city": "Paris"}',
    };
    const user = { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] };
    const alone = { type: 'message', id: 'msg_2', role: 'assistant', status: 'completed', content: [said] };
    const input = [
      user,
      reasoning,
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [said] },
      { ...call, id: 'fc_1', status: 'completed' },
      { type: 'function_call_output', call_id: 'call_1', output: '14 °C' },
      { type: 'custom_tool_call', call_id: 'call_2', name: 'sh', input: 'ls' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'a.txt', id: 'o' },
      alone,
    ];
    expect(messagesOf('openai.responses', { input })).toEqual([
      user,
      {
        role: 'assistant',
        content: [reasoning, said],
        tool_calls: [
          {
            ...{ id: 'call_1', type: 'function', item: { id: 'fc_1', status: 'completed' } },
            function: { name: 'get_weather', arguments: '{"city": "Paris"}' },
          },
        ],
        items: ['part', { message: { type: 'message', id: 'msg_1', status: 'completed' }, parts: 1 }, 'call'],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '14 °C' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_2', type: 'custom', custom: { name: 'sh', input: 'ls' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'call_2',
        content: 'a.txt',
        item: { type: 'custom_tool_call_output', id: 'o' },
      },
      alone,
    ]);
  });

  it('with other items is mapped to other messages: the mapping can be undone', () => {
    fc.assert(
      fc.property(itemList, (input) => {
        const mapped = messagesOf('openai.responses', { input });
        expect(undoResponses(mapped)).toEqual(input);
        for (const message of mapped) chatMessageAt(message, 'a message');
      }),
    );
  });
});

/** What the JSON reader gives, its types left out: the test spells out what it knows to be there. */
type Loose = Record<string, ReturnType<JSON['parse']>>;

/** The items of OpenAI's Responses API that were mapped to these. */
const undoResponses = (mapped: readonly Loose[]): readonly Loose[] => mapped.flatMap(undoMessage);

const undoMessage = (message: Loose): Loose[] => {
  if (message['role'] === 'tool') {
    const { type = 'function_call_output', ...rest } = message['item'] ?? {};
    return [{ type, call_id: message['tool_call_id'], output: message['content'], ...rest }];
  }
  const { role, content, items, tool_calls: calls } = message;
  if (role !== 'assistant' || (items === undefined && calls === undefined)) return [message];
  let part = 0;
  let call = 0;
  return ((items ?? calls.map(() => 'call')) as (Loose | string)[]).map((entry): Loose => {
    if (entry === 'call') return undoCall(calls[call++]);
    if (typeof entry === 'string') return content[part++];
    if (entry['parts'] === null) return { ...entry['message'], role, content: content[part++].text };
    return {
      ...entry['message'],
      role,
      content: (content ?? []).slice(part, (part += Number(entry['parts']))),
    };
  });
};

const undoCall = ({ id, type, item = {}, ...call }: Loose): Loose =>
  type === 'custom'
    ? { type: 'custom_tool_call', call_id: id, ...call['custom'], ...item }
    : { type: 'function_call', call_id: id, ...call['function'], ...item };
