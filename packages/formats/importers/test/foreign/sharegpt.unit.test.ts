import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareGpt } from '../../src/foreign/sharegpt.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const turn = (from: string, value: string) => ({ from, value });

test('each answer of a ShareGPT list is a call; calls in a text stay text', async () => {
  const row = {
    id: 'x',
    source: 'web',
    conversations: [
      turn('system', 'Be brief.'),
      turn('human', 'How deep?'),
      turn('gpt', '<tool_call>{"name": "depth"}</tool_call>'),
      turn('tool', '<tool_response>7</tool_response>'),
      turn('gpt', '7 m'),
    ],
  };
  for (const text of [JSON.stringify([row, row]), `${JSON.stringify(row)}\n${JSON.stringify(row)}\n`]) {
    const items = await itemsOf(shareGpt, text);
    expect(items.filter(({ kind }) => kind === 'conversation')).toHaveLength(2);
    expect(callsIn(items).map(({ answer }) => answer)).toEqual(
      [0, 1].flatMap(() => [
        { role: 'assistant', content: '<tool_call>{"name": "depth"}</tool_call>' },
        { role: 'assistant', content: '7 m' },
      ]),
    );
    expect(messagesIn(items).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'tool',
      'system',
      'user',
      'tool',
    ]);
    expect(namedIn(items)).toEqual({ 'field source': 2 });
  }
});

test('turns of LlamaFactory that are calls are calls, which the next results answer', async () => {
  const row = {
    conversations: [
      turn('human', 'How deep at 1 and 2?'),
      turn(
        'function_call',
        '[{"name": "depth", "arguments": {"at": 1}}, {"name": "depth", "arguments": "{\\"at\\":2}"}]',
      ),
      turn('observation', '7'),
      turn('observation', '9'),
      turn('gpt', '7 and 9'),
    ],
    system: 'Be brief.',
    tools: '[{"name": "depth", "parameters": {}}]',
  };
  const items = await itemsOf(shareGpt, JSON.stringify([row]));
  expect(callsIn(items)).toMatchObject([
    {
      answer: {
        content: null,
        tool_calls: [
          { id: 'call-1', function: { name: 'depth', arguments: '{"at":1}' } },
          { id: 'call-2', function: { name: 'depth', arguments: '{"at":2}' } },
        ],
      },
      tools: [{ name: 'depth', parameters: {} }],
      missing: ['parameters', 'usage'],
    },
    { answer: { content: '7 and 9' } },
  ]);
  expect(messagesIn(items).flatMap(({ messages }) => messages)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'How deep at 1 and 2?' },
    { role: 'tool', tool_call_id: 'call-1', content: '7' },
    { role: 'tool', tool_call_id: 'call-2', content: '9' },
  ]);
});

test('two answers of which one is preferred are two branches', async () => {
  const row = {
    conversations: [turn('human', 'How deep?')],
    chosen: turn('gpt', '7 m'),
    rejected: turn('gpt', 'Deep.'),
  };
  const items = await itemsOf(shareGpt, JSON.stringify([row]));
  expect(messagesIn(items)).toMatchObject([{ id: 'last' }]);
  expect(callsIn(items)).toMatchObject([
    { id: 'chosen', after: 'last', answer: { content: '7 m' } },
    { id: 'rejected', after: 'last', answer: { content: 'Deep.' } },
  ]);
});

test('lists of instructions are read with their history', async () => {
  const row = {
    instruction: 'Add.',
    input: '1 2',
    output: '3',
    system: 'Count.',
    history: [['Hi', 'Hello']],
  };
  const items = await itemsOf(shareGpt, JSON.stringify([row]));
  expect(
    items.flatMap((item): readonly unknown[] =>
      item.kind === 'message' ? item.messages : item.kind === 'call' ? [item.answer] : [],
    ),
  ).toEqual([
    { role: 'system', content: 'Count.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Add.\n1 2' },
    { role: 'assistant', content: '3' },
  ]);
  expect(callsIn(await itemsOf(shareGpt, '{"prompt": "a", "completion": "b"}\n'))).toHaveLength(1);
});

test('images stand where a text names them', async () => {
  const row = {
    conversations: [turn('human', 'Look: <image> and <image>'), turn('gpt', 'Two.')],
    images: ['a.png', 'b.png', 'c.png'],
  };
  const items = await itemsOf(shareGpt, JSON.stringify([row]));
  expect(messagesIn(items)[0]?.messages[0]?.['content']).toEqual([
    { type: 'text', text: 'Look: ' },
    { type: 'image_url', image_url: { url: 'a.png' } },
    { type: 'text', text: ' and ' },
    { type: 'image_url', image_url: { url: 'b.png' } },
  ]);
  expect(namedIn(items)).toEqual({ 'image without a place in a text': 1 });
});

test('what is no row, and a speaker that nobody knows, is refused with its place', async () => {
  const row = { conversations: [turn('human', 'x')] };
  await expect(itemsOf(shareGpt, JSON.stringify([row, { a: 1 }]))).rejects.toMatchObject({
    code: 'E_INPUT_SHAPE',
    message: expect.stringContaining('item 1'),
  });
  const strange = { conversations: [turn('human', 'x'), turn('constructor', 'y')] };
  await expect(itemsOf(shareGpt, JSON.stringify(strange))).rejects.toMatchObject({
    code: 'E_ROLE_UNKNOWN',
    message: expect.stringContaining('turn 1'),
  });
  expect(await isRecognised(shareGpt, '{"conversations": []}')).toBe(false);
  await expect(
    isRecognised(shareGpt, "\n{'conversations': [{'from': 'human', 'value': 'x'}]}\n"),
  ).rejects.toMatchObject({
    code: 'E_INPUT_NOT_JSON',
    message: expect.stringContaining('line 2 of the file is a literal of Python'),
  });
});

test('lists that are made give the same turns', async () => {
  const said = fc.string({ maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.tuple(said, said), { minLength: 1, maxLength: 5 }), {
        minLength: 1,
        maxLength: 4,
      }),
      async (chats) => {
        const rows = chats.map((pairs) => ({
          conversations: pairs.flatMap(([asked, answer]) => [turn('human', asked), turn('gpt', answer)]),
        }));
        const items = await itemsOf(shareGpt, JSON.stringify(rows));
        expect(callsIn(items).map(({ answer }) => answer?.['content'])).toEqual(
          chats.flat().map(([, answer]) => answer),
        );
        expect(messagesIn(items).map(({ messages: [message] }) => message?.['content'])).toEqual(
          chats.flat().map(([asked]) => asked),
        );
      },
    ),
  );
});

test('a damaged list gives items or a coded error', async () => {
  const row = {
    conversations: [turn('human', 'x'), turn('function_call', '{"name":"f"}'), turn('observation', '1')],
    tools: '[]',
    chosen: turn('gpt', 'y'),
  };
  await survivesDamage(shareGpt, [row, { instruction: 'a', output: 'b', history: [['c', 'd']] }]);
});
