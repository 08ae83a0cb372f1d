import { parseWideJson } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatMessageAt, readRequest } from '../src/index.ts';
import { anthropicList } from './any-request.ts';
import { messagesOf, readGood } from './read-good.ts';

describe('a request of Anthropic messages', () => {
  it('is mapped: the system prompt first, calls to tool calls, results to tool messages', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
    const thinking = { type: 'thinking', thinking: 'A city.', signature: 'EqQB' };
    const request = readGood('anthropic.messages', {
      model: 'claude-sonnet-4-5',
      max_tokens: 1024,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Weather in Paris and Rome?' },
        {
          role: 'assistant',
          content: [
            thinking,
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris', at: [1, null] } },
            { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: '14 °C' },
            {
              ...{ type: 'tool_result', tool_use_id: 'toolu_2', is_error: true },
              ...{ content: [{ type: 'text', text: 'no city' }], cache_control: { type: 'ephemeral' } },
            },
            { type: 'text', text: 'And this?' },
            image,
          ],
        },
      ],
    });
    expect(request).toEqual({
      ok: true,
      model: 'claude-sonnet-4-5',
      stream: false,
      parameters: { max_tokens: 1024 },
      tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        },
        { role: 'user', content: 'Weather in Paris and Rome?' },
        {
          role: 'assistant',
          content: [thinking, { type: 'text', text: 'I look.' }],
          tool_calls: [
            {
              ...{ id: 'toolu_1', type: 'function' },
              function: { name: 'get_weather', arguments: '{"city":"Paris","at":[1,null]}' },
            },
            { id: 'toolu_2', type: 'function', function: { name: 'get_weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: '14 °C' },
        {
          ...{ role: 'tool', tool_call_id: 'toolu_2', is_error: true },
          ...{ content: [{ type: 'text', text: 'no city' }], cache_control: { type: 'ephemeral' } },
        },
        { role: 'user', content: [{ type: 'text', text: 'And this?' }, image] },
      ],
      mapping: 'anthropic.messages@1',
      previous: null,
    });
  });

  it('keeps the keys of the input of a call in their own order', () => {
    const body = `{"messages":[{"role":"assistant","content":[
      {"type":"tool_use","id":"t","name":"f","input":{"z": 1.50, "a":{"é":"\\u00e9\\n","b":12345678901234567890}}}]}]}`;
    expect(readRequest('anthropic.messages', new TextEncoder().encode(body))).toMatchObject({
      messages: [
        { tool_calls: [{ function: { arguments: '{"z":1.5,"a":{"é":"é\\n","b":12345678901234567890}}' } }] },
      ],
    });
  });

  it('says where the cuts are not where one expects them', () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: 'r' };
    const text = { type: 'text', text: 'x' };
    const tool = { role: 'tool', tool_call_id: 't', content: 'r' };
    const messages = [
      { role: 'user', content: [text, result] },
      { role: 'user', content: [text] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }, text] },
    ];
    expect(messagesOf('anthropic.messages', { messages })).toEqual([
      { role: 'user', content: [text] },
      { ...tool, same_message: true },
      { role: 'user', content: [text], same_message: false },
      {
        role: 'assistant',
        content: [text],
        tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' }, before: 0 }],
      },
    ]);
  });

  it('with other messages is mapped to other messages: the mapping can be undone', () => {
    fc.assert(
      fc.property(anthropicList, (messages) => {
        const mapped = messagesOf('anthropic.messages', { messages });
        expect(undoAnthropic(structuredClone(mapped))).toEqual(messages);
        expect(messagesOf('anthropic.messages', { messages })).toEqual(mapped);
        for (const message of mapped) chatMessageAt(message, 'a message');
      }),
    );
  });
});

/** What the JSON reader gives, its types left out: the test spells out what it knows to be there. */
type Loose = Record<string, ReturnType<JSON['parse']>>;

/** The messages of Anthropic's API that were mapped to these. */
const undoAnthropic = (mapped: readonly Loose[]): readonly Loose[] => {
  const messages: Loose[] = [];
  let before: Loose | null = null;
  for (const message of mapped) {
    const joins: boolean =
      message['same_message'] ??
      (before?.['role'] === 'tool' &&
        (message['role'] === 'tool' || (message['role'] === 'user' && Array.isArray(message['content']))));
    const { content, ...rest } = undoPiece(message);
    if (joins) messages.at(-1)?.['content'].push(...content);
    else messages.push(content === undefined ? rest : { ...rest, content });
    before = message;
  }
  return messages;
};

const undoPiece = ({ message_fields: fields = {}, same_message: _same, ...message }: Loose): Loose => {
  const { role, content, tool_calls: calls = [], ...rest } = message;
  if (role === 'tool') {
    const { tool_call_id: id, ...others } = rest;
    const block = {
      type: 'tool_result',
      tool_use_id: id,
      ...others,
      ...(content === undefined ? {} : { content }),
    };
    return { role: 'user', content: [block], ...fields };
  }
  if (calls.length === 0) return { role, content, ...rest, ...fields };
  const parts: Loose[] = content ?? [];
  const blocks: Loose[] = [];
  let next = 0;
  for (const { before = parts.length, function: fn, type: _type, ...call } of calls) {
    blocks.push(...parts.slice(next, before));
    next = before;
    blocks.push({ type: 'tool_use', ...call, name: fn.name, input: parseWideJson(fn.arguments) });
  }
  return { role, content: [...blocks, ...parts.slice(next)], ...rest, ...fields };
};
