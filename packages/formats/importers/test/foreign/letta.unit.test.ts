import fc from 'fast-check';
import { expect, test } from 'vitest';
import { letta } from '../../src/foreign/letta.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const text = (value: string) => [{ type: 'text', text: value }];
const call = (id: string) => ({ id, type: 'function', function: { name: 'depth', arguments: '{}' } });
const message = (id: string, role: string, more: object) => ({
  id,
  role,
  created_at: '2026-09-01T10:00:00.5+00:00',
  ...more,
});

const file = {
  agents: [
    {
      id: 'agent-0',
      name: 'harbour',
      llm_config: { model: 'm' },
      tool_ids: ['tool-0', 'tool-9'],
      messages: [
        message('m0', 'system', { content: text('You help.') }),
        message('m1', 'user', { content: 'How deep?' }),
        message('m2', 'assistant', {
          model: 'm-1',
          content: [
            { type: 'reasoning', reasoning: 'Ask.', is_native: true, signature: 's' },
            ...text('I look.'),
          ],
          tool_calls: [call('c1'), call('c2')],
        }),
        message('m3', 'tool', {
          content: text('7'),
          tool_call_id: 'c1',
          tool_returns: [{ tool_call_id: 'c1', status: 'success', func_response: '7' }],
        }),
        message('m4', 'tool', {
          content: [],
          tool_returns: [
            { tool_call_id: 'c2', status: 'error', func_response: 'no' },
            { tool_call_id: 'c3', status: 'success', func_response: { m: 9 } },
          ],
        }),
        message('m5', 'approval', { approve: true }),
        message('m6', 'summary', { content: text('So far.') }),
        message('m7', 'assistant', { content: text('7 m') }),
      ],
    },
    { id: 'agent-1', name: 'empty', messages: [] },
  ],
  blocks: [{ id: 'b' }],
  tools: [{ id: 'tool-0', name: 'depth', json_schema: { name: 'depth', parameters: {} } }],
};

test('each agent of a file is a conversation with its tools, each message of its assistant a call', async () => {
  const items = await itemsOf(letta, JSON.stringify(file));
  expect(items.filter(({ kind }) => kind === 'conversation')).toMatchObject([
    { key: null, title: 'harbour' },
    { key: null, title: 'empty' },
  ]);
  const tools = [{ type: 'function', function: { name: 'depth', parameters: {} } }];
  const at = Date.parse('2026-09-01T10:00:00.500Z');
  expect(callsIn(items)).toEqual([
    {
      kind: 'call',
      at,
      model: 'm-1',
      tools,
      answer: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Ask.', signature: 's' },
          { type: 'text', text: 'I look.' },
        ],
        tool_calls: [call('c1'), call('c2')],
      },
      missing: ['parameters', 'usage'],
    },
    {
      kind: 'call',
      at,
      model: 'm',
      tools,
      answer: { role: 'assistant', content: '7 m' },
      missing: ['parameters', 'usage'],
    },
  ]);
  expect(messagesIn(items).flatMap(({ messages }) => messages)).toEqual([
    { role: 'system', content: 'You help.' },
    { role: 'user', content: 'How deep?' },
    { role: 'tool', tool_call_id: 'c1', content: '7' },
    { role: 'tool', tool_call_id: 'c2', content: 'no', is_error: true },
    { role: 'tool', tool_call_id: 'c3', content: '{"m":9}' },
    { role: 'user', content: 'So far.' },
  ]);
  expect(namedIn(items)).toEqual({ 'field blocks': 1, 'message approval': 1 });
});

test('a download that is a JSON text, and a file of one agent, are read', async () => {
  expect(callsIn(await itemsOf(letta, JSON.stringify(JSON.stringify(file))))).toHaveLength(2);
  const one = {
    agent_type: 'memgpt_agent',
    core_memory: [{ label: 'human' }],
    llm_config: { model: 'm' },
    version: '0.6.47',
    name: 'h',
    messages: [
      { role: 'user', text: 'Hi' },
      { role: 'assistant', content: text('Hello') },
    ],
    tools: [],
  };
  const items = await itemsOf(letta, JSON.stringify(one));
  expect(items[0]).toMatchObject({ title: 'h', version: '0.6.47' });
  expect(callsIn(items)).toMatchObject([{ model: 'm', answer: { content: 'Hello' } }]);
  expect(messagesIn(items)).toMatchObject([{ messages: [{ role: 'user', content: 'Hi' }] }]);
  expect(namedIn(items)).toEqual({ 'field core_memory': 1 });
  expect(await isRecognised(letta, '{"agents": [{"name": "x"}], "tools": []}')).toBe(false);
  const strange = { ...one, messages: [{ role: 'wizard', content: 'x' }] };
  await expect(itemsOf(letta, JSON.stringify(strange))).rejects.toMatchObject({
    code: 'E_ROLE_UNKNOWN',
    message: expect.stringContaining('message 0'),
  });
});

test('agents that are made give the same calls and results', async () => {
  const turn = fc.record({
    said: fc.string({ minLength: 1, maxLength: 9 }),
    results: fc.array(fc.string({ maxLength: 9 }), { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
      const messages = turns.flatMap(({ said, results }, at) => [
        { role: 'user', content: text('q') },
        {
          role: 'assistant',
          content: text(said),
          ...(results.length > 0 && { tool_calls: results.map((_result, index) => call(`c${at}.${index}`)) }),
        },
        ...results.map((content, index) => ({
          role: 'tool',
          tool_call_id: `c${at}.${index}`,
          content: text(content),
        })),
      ]);
      const items = await itemsOf(letta, JSON.stringify({ agents: [{ id: 'a', messages }], tools: [] }));
      expect(
        callsIn(items).map(({ answer }) => [
          answer?.['content'],
          Array.isArray(answer?.['tool_calls']) ? answer['tool_calls'].length : 0,
        ]),
      ).toEqual(turns.map(({ said, results }) => [said, results.length]));
      expect(
        messagesIn(items)
          .filter(({ role }) => role === 'tool')
          .map(({ messages: [message] }) => message?.['content']),
      ).toEqual(turns.flatMap(({ results }) => results));
    }),
  );
});

test('a damaged file gives items or a coded error', async () => {
  await survivesDamage(letta, [file]);
});
