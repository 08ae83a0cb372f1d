import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cline } from '../../src/foreign/cline.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, survivesDamage } from './read-items.ts';

const task = [
  { role: 'user', content: [{ type: 'text', text: '<task>How deep?</task>' }], ts: 1_788_256_800_000 },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Ask.', signature: 's' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'c1', name: 'depth', input: { at: 1 } },
    ],
    modelInfo: { modelId: 'm', providerId: 'p', mode: 'act' },
    metrics: { tokens: { prompt: 20, completion: 5, cached: 4 }, cost: 0.1 },
    ts: 1_788_256_801_000,
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'c1', content: '7', is_error: true },
      { type: 'text', text: '<environment_details>' },
    ],
    ts: 1_788_256_802_000,
  },
  { role: 'assistant', content: '7 m', ts: 1_788_256_803_000 },
];

test('each message of the assistant is a call, with its model, tokens and time', async () => {
  const items = await itemsOf(cline, JSON.stringify(task));
  expect(callsIn(items)).toMatchObject([
    {
      at: 1_788_256_801_000,
      model: 'm',
      usage: { input: 20, output: 5, cached: 4 },
      answer: {
        content: [{ type: 'thinking' }, { type: 'text' }],
        tool_calls: [{ id: 'c1', function: { arguments: '{"at":1}' } }],
      },
    },
    { model: null, answer: { content: '7 m' } },
  ]);
  expect(messagesIn(items).map(({ role }) => role)).toEqual(['user', 'tool', 'user']);
  expect(
    await isRecognised(cline, JSON.stringify(task.map(({ role, content }) => ({ role, content })))),
  ).toBe(false);
});

test('tasks that are made give the same calls and tokens', async () => {
  const turn = fc.record({
    said: fc.string({ minLength: 1, maxLength: 9 }),
    prompt: fc.nat(1e6),
    completion: fc.nat(1e6),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), async (turns) => {
      const messages = turns.flatMap(({ said, prompt, completion }, at) => [
        { role: 'user', content: `q${at}`, ts: at },
        {
          role: 'assistant',
          content: [{ type: 'text', text: said }],
          ts: at,
          metrics: { tokens: { prompt, completion, cached: 0 } },
        },
      ]);
      const calls = callsIn(await itemsOf(cline, JSON.stringify(messages)));
      expect(calls.map(({ answer, usage }) => [answer?.['content'], usage?.input, usage?.output])).toEqual(
        turns.map(({ said, prompt, completion }) => [[{ type: 'text', text: said }], prompt, completion]),
      );
    }),
  );
});

test('a damaged task gives items or a coded error', async () => {
  await survivesDamage(cline, [task]);
});
