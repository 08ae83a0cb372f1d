import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aiSdk } from '../../src/foreign/ai-sdk.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const page = [
  { id: '1', role: 'user', parts: [{ type: 'text', text: 'How deep?' }] },
  {
    id: '2',
    role: 'assistant',
    metadata: {
      model: 'm',
      createdAt: 1_788_256_800_000,
      totalUsage: { inputTokens: 20, outputTokens: 5, cachedInputTokens: 4, reasoningTokens: 2 },
      finishReason: 'stop',
    },
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'Ask.', state: 'done' },
      { type: 'tool-depth', toolCallId: 'c1', state: 'output-available', input: { at: 1 }, output: { m: 7 } },
      {
        type: 'dynamic-tool',
        toolName: 'tide',
        toolCallId: 'c2',
        state: 'output-error',
        input: {},
        errorText: 'no tide',
      },
      { type: 'tool-wind', toolCallId: 'c3', state: 'input-available', input: {} },
      { type: 'step-start' },
      { type: 'text', text: '7 metres', state: 'done' },
    ],
  },
];

test('each step of a message of a page is a call, and what the message says of all stands with its last', async () => {
  const items = await itemsOf(aiSdk, JSON.stringify(page));
  expect(callsIn(items)).toEqual([
    {
      kind: 'call',
      at: 1_788_256_800_000,
      model: 'm',
      answer: {
        id: '2',
        role: 'assistant',
        metadata: page[1]?.metadata,
        content: [{ type: 'reasoning', text: 'Ask.' }],
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            function: { name: 'depth', arguments: '{"at":1}' },
            part: { state: 'output-available' },
          },
          {
            id: 'c2',
            type: 'function',
            function: { name: 'tide', arguments: '{}' },
            part: { state: 'output-error' },
          },
          {
            id: 'c3',
            type: 'function',
            function: { name: 'wind', arguments: '{}' },
            part: { state: 'input-available' },
          },
        ],
      },
      missing: ['system prompt', 'tools', 'parameters', 'usage'],
    },
    {
      kind: 'call',
      at: 1_788_256_800_000,
      model: 'm',
      answer: { role: 'assistant', content: '7 metres' },
      usage: { input: 20, output: 5, cached: 4, cacheWrite: null, reasoning: 2 },
      finishReason: 'stop',
      missing: ['system prompt', 'tools', 'parameters'],
    },
  ]);
  expect(
    messagesIn(items).map(({ role, messages }) => [
      role,
      messages[0]?.['content'],
      messages[0]?.['is_error'],
    ]),
  ).toEqual([
    ['user', 'How deep?', undefined],
    ['tool', '{"m":7}', undefined],
    ['tool', 'no tide', true],
  ]);
});

test('messages that the SDK sends are read with their old and new names, alone and in an object', async () => {
  const sent = (input: string, output: string) => [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'How deep?' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'depth', [input]: { at: 1 } }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'depth',
          [output]: output === 'output' ? { type: 'text', value: '7' } : '7',
        },
      ],
    },
    { role: 'assistant', content: '7 m' },
  ];
  for (const [input, output] of [
    ['input', 'output'],
    ['args', 'result'],
  ] as const) {
    const list = sent(input, output);
    const lines = list.slice(2).map((message) => JSON.stringify(message));
    for (const text of [JSON.stringify(list), JSON.stringify({ id: 'x', model: 'm', messages: list })]) {
      const items = await itemsOf(aiSdk, text);
      expect(
        callsIn(items).map(({ answer, missing }) => [answer?.['tool_calls'] ?? answer?.['content'], missing]),
      ).toEqual([
        [
          [{ id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"at":1}' } }],
          ['tools', 'parameters', 'usage'],
        ],
        ['7 m', ['tools', 'parameters', 'usage']],
      ]);
      expect(messagesIn(items).at(-1)?.messages).toMatchObject([
        { role: 'tool', tool_call_id: 'c1', content: '7' },
      ]);
      expect(namedIn(items)).toEqual(text.startsWith('[') ? {} : { 'field model': 1 });
    }
    expect(callsIn(await itemsOf(aiSdk, lines.join('\n')))).toHaveLength(2);
  }
});

test('messages of versions 3 and 4 repeat their text and calls beside their parts, and are read once', async () => {
  const toolInvocation = { state: 'result', toolCallId: 'c1', toolName: 'depth', args: { at: 1 }, result: 7 };
  const old = { id: '2', role: 'assistant', content: '7 m', toolInvocations: [toolInvocation] };
  const both = {
    ...old,
    parts: [
      { type: 'tool-invocation', toolInvocation },
      { type: 'text', text: '7 m' },
    ],
  };
  for (const message of [old, both]) {
    const items = await itemsOf(aiSdk, JSON.stringify([{ role: 'user', content: 'How deep?' }, message]));
    expect(callsIn(items).map(({ answer }) => answer?.['content'])).toEqual([null, '7 m']);
    expect(messagesIn(items).map(({ role }) => role)).toEqual(['user', 'tool']);
  }
});

test('files that are images are images', async () => {
  const parts = [
    { type: 'file', mediaType: 'image/png', url: 'https://x/y.png', filename: 'y.png' },
    { type: 'file', mediaType: 'text/plain', url: 'data:,x' },
  ];
  const [message] = messagesIn(await itemsOf(aiSdk, JSON.stringify([{ role: 'user', parts }])));
  expect(message?.messages).toEqual([
    {
      role: 'user',
      content: [
        {
          type: 'image_url',
          image_url: { url: 'https://x/y.png' },
          mediaType: 'image/png',
          filename: 'y.png',
        },
        parts[1],
      ],
    },
  ]);
});

test('lists that are no messages of the AI SDK are none of its', async () => {
  for (const other of [
    [{ role: 'user', content: 'Hi' }],
    [{ role: 'user', parts: [{ text: 'Hi' }] }],
    [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    [{ role: 'tool', content: 'x', tool_call_id: 'c' }],
  ])
    expect(await isRecognised(aiSdk, JSON.stringify(other)), JSON.stringify(other)).toBe(false);
  await expect(
    itemsOf(aiSdk, JSON.stringify([...page, { role: 'wizard', parts: [] }])),
  ).rejects.toMatchObject({ code: 'E_ROLE_UNKNOWN' });
  await expect(itemsOf(aiSdk, JSON.stringify([...page, null]))).rejects.toMatchObject({
    code: 'E_INPUT_SHAPE',
  });
});

const step = fc.record({
  text: fc.string({ minLength: 1, maxLength: 20 }),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('a', 'b'),
      input: fc.dictionary(fc.constantFrom('x', 'y'), fc.integer()),
      output: fc.option(fc.string({ minLength: 1, maxLength: 9 }), { nil: undefined }),
    }),
    { maxLength: 3 },
  ),
});

test('pages that are made give the same steps, calls and results', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      async (turns) => {
        let next = 0;
        const messages = turns.flatMap((steps) => [
          { role: 'user', parts: [{ type: 'text', text: 'q' }] },
          {
            role: 'assistant',
            parts: steps.flatMap(({ text, calls }) => [
              { type: 'step-start' },
              { type: 'text', text },
              ...calls.map(({ name, input, output }) => ({
                type: `tool-${name}`,
                toolCallId: `c${next++}`,
                input,
                ...(output !== undefined && { output }),
              })),
            ]),
          },
        ]);
        const items = await itemsOf(aiSdk, JSON.stringify(messages));
        const steps = turns.flat();
        expect(
          callsIn(items).map(({ answer }) =>
            Array.isArray(answer?.['tool_calls']) ? answer['tool_calls'].length : 0,
          ),
        ).toEqual(steps.map(({ calls }) => calls.length));
        expect(
          messagesIn(items)
            .filter(({ role }) => role === 'tool')
            .map(({ messages: [result] }) => result?.['content']),
        ).toEqual(steps.flatMap(({ calls }) => calls.flatMap(({ output }) => output ?? [])));
      },
    ),
  );
});

test('a damaged list gives items or a coded error', async () => {
  await survivesDamage(aiSdk, [page, { messages: page, title: 'x' }]);
});
