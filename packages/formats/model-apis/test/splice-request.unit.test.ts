import type { WideJson, WideJsonObject } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultInPairs, readRequest, spliceRequest, type OutgoingMessage } from '../src/index.ts';
import { anthropicList, itemList } from './any-request.ts';

type Api = 'openai.chat' | 'openai.responses' | 'anthropic.messages';

const written = (api: Api, text: string, messages: readonly OutgoingMessage[]): string => {
  const result = spliceRequest(api, Buffer.from(text), messages);
  if (!result.ok) throw new Error(result.reason);
  return Buffer.from(result.body).toString();
};
const read = (api: Api, text: string): readonly WideJsonObject[] => {
  const request = readRequest(api, Buffer.from(text));
  if (!request.ok) throw new Error(request.reason);
  return request.messages;
};
const user = (content: string): OutgoingMessage => ({ write: { role: 'user', content }, system: false });
const keep = (...indexes: readonly number[]): OutgoingMessage[] => indexes.map((index) => ({ keep: index }));
const chatMessage = fc
  .tuple(fc.constantFrom('user', 'assistant', 'tool'), fc.string({ maxLength: 5 }))
  .map(([role, content]): WideJson => ({ role, content }));

describe('a request with other messages', () => {
  it('keeps every byte of what is not changed, whatever stands between the messages', () => {
    const text =
      '{ "model":"m" ,"messages" : [ {"role":"system","content":"\\u0041 \\"[]{}\\\\"},\n {"role" :"user", "content":"Hi"} , {"role":"assistant","content":1e2} ],"x":[{"messages":[]}]}';
    expect(written('openai.chat', text, [...keep(0, 1, 2), user('Stop\n"now"')])).toBe(
      text.replace('1e2}', '1e2},{"role":"user","content":"Stop\\n\\"now\\""}'),
    );
    expect(written('openai.chat', text, [...keep(0), user('A'), ...keep(2)])).toBe(
      text.replace(/,\n.*?\} , \{/, ',{"role":"user","content":"A"},{'),
    );
    expect(written('openai.chat', text, keep(0, 1, 2))).toBe(text);
  });

  it('has the messages that were asked for, those of the chat API as they are', () => {
    fc.assert(
      fc.property(
        fc.array(chatMessage, { maxLength: 5 }),
        fc.array(fc.nat(5)),
        fc.array(fc.string({ maxLength: 3 }), { maxLength: 3 }),
        (messages, kept, texts) => {
          const text = JSON.stringify({ model: 'm', messages }, null, 1);
          const stays = [...new Set(kept)].filter((i) => i < messages.length).sort((a, b) => a - b);
          const plan = [...keep(...stays), ...texts.map(user)];
          const wanted = [
            ...stays.map((i) => messages[i] as WideJson),
            ...texts.map((content) => ({ role: 'user', content })),
          ];
          expect(read('openai.chat', written('openai.chat', text, plan))).toEqual(wanted);
        },
      ),
    );
  });

  it('is the same request when every message is written anew, in each API', () => {
    const law = (api: Api, body: WideJsonObject): void => {
      const text = JSON.stringify(body);
      const request = readRequest(api, Buffer.from(text));
      if (!request.ok) return;
      expect(written(api, text, keep(...request.messages.keys()))).toBe(text);
      // What is new joins its neighbours there, so the roles take turns.
      if (api === 'anthropic.messages') return;
      const anew = request.messages.map((write, i) => ({
        write,
        system: i === 0 && Object.hasOwn(body, 'instructions'),
      }));
      expect(read(api, written(api, text, anew))).toEqual(request.messages);
    };
    fc.assert(fc.property(anthropicList, (messages) => law('anthropic.messages', { messages })));
    const call = (id: string): WideJson => ({
      type: 'function_call',
      call_id: id,
      name: 'f',
      arguments: '{}',
      id: 'fc',
    });
    const items: WideJson[] = [
      { role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
      { type: 'reasoning', id: 'r', summary: [] },
      { type: 'message', role: 'assistant', id: 'm', content: [{ type: 'output_text', text: 'a' }] },
      call('1'),
      { type: 'custom_tool_call', call_id: '2', name: 'g', input: 'x' },
      { type: 'function_call_output', call_id: '1', output: 'one', status: 'completed' },
      { type: 'custom_tool_call_output', call_id: '2', output: 'two' },
    ];
    for (let size = 0; size <= items.length; size++)
      law('openai.responses', { instructions: 'Be brief', input: items.slice(0, size) });
    fc.assert(
      fc.property(itemList, (input) => {
        const text = JSON.stringify({ input });
        const request = readRequest('openai.responses', Buffer.from(text));
        if (request.ok)
          expect(written('openai.responses', text, keep(...request.messages.keys()))).toBe(text);
      }),
    );
  });

  it('lets the roles take turns in Anthropic messages, and keeps results first', () => {
    const text = JSON.stringify({
      system: 'S',
      messages: [
        { role: 'user', content: 'Q' },
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'r' }] },
      ],
    });
    const after = (plan: readonly OutgoingMessage[]): WideJson =>
      JSON.parse(written('anthropic.messages', text, plan)) as WideJson;
    expect(after([...keep(0, 1, 2, 3), user('X')])).toEqual({
      system: 'S',
      messages: [
        { role: 'user', content: 'Q' },
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: '1', content: 'r' },
            { type: 'text', text: 'X' },
          ],
        },
      ],
    });
    expect(after([...keep(0, 1), user('X'), ...keep(2, 3)])).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Q' },
            { type: 'text', text: 'X' },
          ],
        },
        { role: 'assistant' },
        { role: 'user' },
      ],
    });
    const result = { role: 'tool', tool_call_id: '1', content: 'other' };
    expect(after([...keep(0, 1, 2), { write: result, system: false }])).toMatchObject({
      messages: [
        {},
        {},
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'other' }] },
      ],
    });
    const more = { write: { role: 'system', content: 'T' }, system: true } as const;
    expect(after([...keep(0), more, ...keep(1)])).toEqual({
      system: [
        { type: 'text', text: 'S' },
        { type: 'text', text: 'T' },
      ],
      messages: [{ role: 'user', content: 'Q' }],
    });
    expect(after([more, ...keep(1)])).toMatchObject({ system: 'T' });
    expect(after(keep(1))).toEqual({ messages: [{ role: 'user', content: 'Q' }] });
    // A message of the system that is not of the prompt is said by the user.
    expect(after([...keep(0, 1), { write: { role: 'system', content: 'T' }, system: false }])).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Q' }, { text: 'T' }] }],
    });
  });

  it('writes the input and the instructions of OpenAI responses', () => {
    const text = '{"model":"m","instructions":"S","input":"Hello","store":false}';
    expect(written('openai.responses', text, [...keep(0, 1), user('X')])).toBe(
      '{"model":"m","instructions":"S","input":[{"role":"user","content":"Hello"},{"role":"user","content":"X"}],"store":false}',
    );
    const system = { write: { role: 'system', content: 'T' }, system: true } as const;
    expect(written('openai.responses', text, [system, ...keep(1)])).toBe(text.replace('"S"', '"T"'));
    expect(written('openai.responses', text, keep(1))).toBe('{"model":"m","input":"Hello","store":false}');
    expect(
      read('openai.responses', written('openai.responses', text, [...keep(0), system, ...keep(1)])),
    ).toEqual([
      { role: 'system', content: 'S' },
      { role: 'system', content: 'T' },
      { role: 'user', content: 'Hello' },
    ]);
  });

  it('is refused with a reason if it is no JSON', () => {
    expect(spliceRequest('openai.chat', Buffer.from('{'), [])).toMatchObject({ ok: false });
  });
});

describe('pairs of tool calls and results', () => {
  const call = { role: 'assistant', content: null, tool_calls: [{ id: '1' }, { id: '2' }] };
  const result = (id: string): WideJson => ({ role: 'tool', tool_call_id: id, content: '' });
  it.each([
    [[call, result('2'), result('1')], null],
    [[call, result('1'), { role: 'user' }], 'the call 2 has no result behind it'],
    [[result('1')], 'the result of 1 has no call before it'],
    [[call, result('1'), result('1')], 'the result of 1 has no call before it'],
    [[call], null],
  ])('%j: %s', (messages, fault) => {
    expect(faultInPairs(messages)).toBe(fault);
  });
});
