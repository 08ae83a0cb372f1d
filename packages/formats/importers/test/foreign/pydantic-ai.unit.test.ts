import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pydanticAi } from '../../src/foreign/pydantic-ai.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const AT = '2026-09-01T10:00:00.123456Z';
const request = (...parts: readonly object[]) => ({ parts, instructions: null, kind: 'request' });
const response = (parts: readonly object[], more: object = {}) => ({
  parts,
  kind: 'response',
  timestamp: AT,
  ...more,
});

const history = [
  {
    ...request(
      { part_kind: 'system-prompt', content: 'You help.', timestamp: AT },
      {
        part_kind: 'user-prompt',
        content: [
          'Look:',
          { kind: 'image-url', url: 'https://x/y.png' },
          { kind: 'binary', data: 'aGk_', media_type: 'image/png' },
        ],
        timestamp: AT,
      },
    ),
    instructions: 'Be brief.',
  },
  response(
    [
      { part_kind: 'thinking', content: 'Ask.', signature: 'sig', id: 't1' },
      { part_kind: 'text', content: 'I look.' },
      { part_kind: 'tool-call', tool_name: 'depth', args: { at: 1 }, tool_call_id: 'c1' },
      { part_kind: 'tool-call', tool_name: 'depth', args: '{"at":2}', tool_call_id: 'c2' },
    ],
    {
      model_name: 'm',
      finish_reason: 'tool_call',
      usage: {
        input_tokens: 20,
        output_tokens: 5,
        cache_read_tokens: 4,
        cache_write_tokens: 2,
        details: { reasoning_tokens: 3 },
      },
    },
  ),
  {
    ...request(
      { part_kind: 'tool-return', tool_name: 'depth', content: { m: 7 }, tool_call_id: 'c1', timestamp: AT },
      {
        part_kind: 'retry-prompt',
        tool_name: 'depth',
        content: 'no such pier',
        tool_call_id: 'c2',
        timestamp: AT,
      },
      { part_kind: 'retry-prompt', content: 'Answer in JSON.', tool_name: null, timestamp: AT },
      { part_kind: 'tool-availability-delta' },
    ),
    instructions: 'Be brief.',
  },
  response([{ part_kind: 'text', content: '7 m' }], {
    usage: { requests: 1, request_tokens: 30, response_tokens: 6, total_tokens: 36, details: null },
  }),
];

test('each response is a call, with its thoughts, calls, tokens and its model', async () => {
  const items = await itemsOf(pydanticAi, JSON.stringify(history));
  const at = Date.parse('2026-09-01T10:00:00.123Z');
  expect(callsIn(items)).toEqual([
    {
      kind: 'call',
      at,
      model: 'm',
      answer: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Ask.', signature: 'sig', id: 't1' },
          { type: 'text', text: 'I look.' },
        ],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"at":1}' } },
          { id: 'c2', type: 'function', function: { name: 'depth', arguments: '{"at":2}' } },
        ],
      },
      usage: { input: 20, output: 5, cached: 4, cacheWrite: 2, reasoning: 3 },
      finishReason: 'tool_call',
      missing: ['tools', 'parameters'],
    },
    {
      kind: 'call',
      at,
      model: null,
      answer: { role: 'assistant', content: '7 m' },
      usage: { input: 30, output: 6, cached: null, cacheWrite: null, reasoning: null },
      finishReason: null,
      missing: ['tools', 'parameters'],
    },
  ]);
  expect(messagesIn(items).flatMap(({ messages }) => messages)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'You help.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'image_url', image_url: { url: 'https://x/y.png' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk/' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', name: 'depth', content: '{"m":7}' },
    { role: 'tool', tool_call_id: 'c2', name: 'depth', content: 'no such pier', is_error: true },
    { role: 'user', content: 'Answer in JSON.' },
  ]);
  expect(namedIn(items)).toEqual({ 'part tool-availability-delta': 1 });
});

test('what a tool of the provider gave is a result, and calls before a text keep their order', async () => {
  const message = response([
    {
      part_kind: 'builtin-tool-call',
      tool_name: 'web_search',
      args: null,
      tool_call_id: 'b1',
      provider_name: 'x',
    },
    {
      part_kind: 'builtin-tool-return',
      tool_name: 'web_search',
      content: ['hit'],
      tool_call_id: 'b1',
      timestamp: AT,
    },
    { part_kind: 'thinking', content: 'Hm.' },
    { part_kind: 'text', content: 'Found.' },
  ]);
  const items = await itemsOf(pydanticAi, `${JSON.stringify(history[0])}\n${JSON.stringify(message)}\n`);
  expect(callsIn(items)[0]?.answer).toEqual({
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Found.' },
    ],
    tool_calls: [
      {
        id: 'b1',
        type: 'function',
        function: { name: 'web_search', arguments: '{}' },
        part: { part_kind: 'builtin-tool-call' },
        before: 0,
      },
    ],
  });
  expect(messagesIn(items).at(-1)?.messages).toEqual([
    { role: 'tool', tool_call_id: 'b1', name: 'web_search', content: '["hit"]' },
  ]);
});

test('a list with something else in it is refused with its place', async () => {
  expect(await isRecognised(pydanticAi, '[{"kind": "request", "parts": []}, {"kind": "x"}]')).toBe(false);
  const long = [...Array.from({ length: 20 }, () => history[0]), { kind: 'request', parts: [null] }];
  await expect(itemsOf(pydanticAi, JSON.stringify(long))).rejects.toMatchObject({
    code: 'E_INPUT_SHAPE',
    message: expect.stringContaining('message 20'),
  });
});

test('histories that are made give the same calls, results and tokens', async () => {
  const turn = fc.record({
    text: fc.string({ minLength: 1, maxLength: 20 }),
    results: fc.array(fc.string({ maxLength: 9 }), { maxLength: 3 }),
    input: fc.nat(1e6),
    output: fc.nat(1e6),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
      const messages = turns.flatMap(({ text, results, input, output }, at) => [
        request({ part_kind: 'user-prompt', content: `q${at}`, timestamp: AT }),
        response(
          [
            { part_kind: 'text', content: text },
            ...results.map((_result, index) => ({
              part_kind: 'tool-call',
              tool_name: 'f',
              args: {},
              tool_call_id: `c${at}.${index}`,
            })),
          ],
          { usage: { input_tokens: input, output_tokens: output } },
        ),
        request(
          ...results.map((content, index) => ({
            part_kind: 'tool-return',
            tool_name: 'f',
            content,
            tool_call_id: `c${at}.${index}`,
          })),
        ),
      ]);
      const items = await itemsOf(pydanticAi, JSON.stringify(messages));
      expect(
        callsIn(items).map(({ answer, usage }) => [
          answer?.['content'],
          Array.isArray(answer?.['tool_calls']) ? answer['tool_calls'].length : 0,
          usage?.input,
          usage?.output,
        ]),
      ).toEqual(turns.map(({ text, results, input, output }) => [text, results.length, input, output]));
      expect(
        messagesIn(items)
          .filter(({ role }) => role === 'tool')
          .map(({ messages: [message] }) => message?.['content']),
      ).toEqual(turns.flatMap(({ results }) => results));
    }),
  );
});

test('a damaged history gives items or a coded error', async () => {
  await survivesDamage(pydanticAi, [history]);
});
