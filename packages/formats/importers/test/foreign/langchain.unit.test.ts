import fc from 'fast-check';
import { expect, test } from 'vitest';
import { langchain } from '../../src/foreign/langchain.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const fields = [
  { type: 'system', content: 'You help.' },
  { type: 'human', content: [{ type: 'text', text: 'How deep?' }] },
  {
    type: 'ai',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'c1', name: 'depth', input: {} },
    ],
    tool_calls: [{ name: 'depth', args: { at: 1 }, id: 'c1', type: 'tool_call' }],
    invalid_tool_calls: [{ name: 'x', args: '{', id: 'c9' }],
    usage_metadata: {
      input_tokens: 20,
      output_tokens: 5,
      total_tokens: 25,
      input_token_details: { cache_read: 4, cache_creation: 2 },
      output_token_details: { reasoning: 3 },
    },
    response_metadata: { model_name: 'm', finish_reason: 'tool_calls' },
  },
  { type: 'tool', content: 'no', tool_call_id: 'c1', status: 'error', artifact: { rows: 1 } },
  { type: 'ai', content: '7 m' },
];
const CLASSES: { readonly [type: string]: string } = {
  system: 'SystemMessage',
  human: 'HumanMessage',
  ai: 'AIMessage',
  tool: 'ToolMessage',
};

const FORMS = {
  'as dicts': fields.map(({ type, ...data }) => ({ type, data: { ...data, type } })),
  'as dumps': fields.map((kwargs) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain', 'schema', 'messages', CLASSES[kwargs.type]],
    kwargs,
  })),
  'as models': fields,
};

test.each(Object.entries(FORMS))(
  'messages %s are read, in a list, in an object and on lines',
  async (_name, messages) => {
    const lines = messages.map((message) => JSON.stringify(message)).join('\n');
    for (const text of [JSON.stringify(messages), JSON.stringify({ messages }), lines]) {
      const items = await itemsOf(langchain, text);
      expect(callsIn(items)).toMatchObject([
        {
          model: 'm',
          finishReason: 'tool_calls',
          usage: { input: 20, output: 5, cached: 4, cacheWrite: 2, reasoning: 3 },
          answer: {
            content: [{ type: 'text', text: 'I look.' }],
            tool_calls: [{ id: 'c1', function: { name: 'depth', arguments: '{"at":1}' } }],
          },
          missing: ['tools', 'parameters'],
        },
        { model: null, usage: null, answer: { content: '7 m' } },
      ]);
      expect(messagesIn(items).map(({ role, messages: [message] }) => [role, message?.['is_error']])).toEqual(
        [
          ['system', undefined],
          ['user', undefined],
          ['tool', true],
        ],
      );
      expect(namedIn(items)).toEqual({ 'call that is no JSON': 1, 'field artifact': 1 });
    }
  },
);

test('other lists are none of LangChain, and one with something else in it is refused', async () => {
  for (const other of [
    [{ role: 'user', content: 'Hi' }],
    [{ type: 'message', content: 'x' }],
    [{ type: 'user', message: {} }],
    { messages: [] },
  ])
    expect(await isRecognised(langchain, JSON.stringify(other))).toBe(false);
  const long = [...Array.from({ length: 20 }, () => fields[1]), 7];
  await expect(itemsOf(langchain, JSON.stringify(long))).rejects.toMatchObject({
    code: 'E_INPUT_SHAPE',
    message: expect.stringContaining('message 20'),
  });
});

test('lists that are made give the same calls, results and tokens', async () => {
  const turn = fc.record({
    said: fc.string({ maxLength: 9 }),
    results: fc.array(fc.string({ maxLength: 9 }), { maxLength: 3 }),
    input: fc.nat(1e6),
    output: fc.nat(1e6),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), async (turns) => {
      const messages = turns.flatMap(({ said, results, input, output }, at) => [
        { type: 'human', content: 'q' },
        {
          type: 'ai',
          content: said,
          tool_calls: results.map((_result, index) => ({ name: 'f', args: {}, id: `c${at}.${index}` })),
          usage_metadata: { input_tokens: input, output_tokens: output },
        },
        ...results.map((content, index) => ({ type: 'tool', content, tool_call_id: `c${at}.${index}` })),
      ]);
      const items = await itemsOf(langchain, JSON.stringify(messages));
      expect(
        callsIn(items).map(({ answer, usage }) => [
          Array.isArray(answer?.['tool_calls']) ? answer['tool_calls'].length : 0,
          usage?.input,
          usage?.output,
        ]),
      ).toEqual(turns.map(({ results, input, output }) => [results.length, input, output]));
      expect(
        messagesIn(items)
          .filter(({ role }) => role === 'tool')
          .map(({ messages: [message] }) => message?.['content']),
      ).toEqual(turns.flatMap(({ results }) => results));
    }),
  );
});

test('a damaged list gives items or a coded error', async () => {
  await survivesDamage(langchain, [FORMS['as dumps'], { messages: FORMS['as dicts'] }, ...fields]);
});
