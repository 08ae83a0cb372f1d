import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openaiAgents } from '../../src/foreign/openai-agents.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, survivesDamage } from './read-items.ts';

const called = (id: string) => ({
  type: 'function_call',
  call_id: id,
  name: 'depth',
  arguments: '{}',
  id: `fc_${id}`,
  status: 'completed',
});
const gave = (id: string, output: string) => ({ type: 'function_call_output', call_id: id, output });
const said = (text: string) => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
});
const items = [
  { role: 'user', content: 'How deep?' },
  { type: 'reasoning', id: 'r1', summary: [] },
  called('c1'),
  called('c2'),
  gave('c1', '7'),
  gave('c2', '9'),
  said('7 and 9'),
];

const row = (id: number, session: string, item: object) => ({
  id,
  session_id: session,
  message_data: JSON.stringify(item),
  created_at: '2026-09-01 10:00:00',
});

test('what the model made between two messages of others is a call', async () => {
  for (const text of [JSON.stringify(items), JSON.stringify({ session_id: 's', items })]) {
    const read = await itemsOf(openaiAgents, text);
    expect(callsIn(read)).toMatchObject([
      { answer: { tool_calls: [{ id: 'c1' }, { id: 'c2' }] } },
      { answer: { content: [{ type: 'output_text', text: '7 and 9' }] } },
    ]);
    expect(messagesIn(read).flatMap(({ messages }) => messages)).toMatchObject([
      { role: 'user', content: 'How deep?' },
      { role: 'tool', tool_call_id: 'c1', content: '7' },
      { role: 'tool', tool_call_id: 'c2', content: '9' },
    ]);
  }
});

test('rows of several sessions are a conversation each, in a list and on lines', async () => {
  const rows = items.flatMap((item, index) => [row(2 * index, 'a', item), row(2 * index + 1, 'b', item)]);
  for (const text of [JSON.stringify(rows), rows.map((each) => JSON.stringify(each)).join('\n')]) {
    const read = await itemsOf(openaiAgents, text);
    expect(read.filter(({ kind }) => kind === 'conversation')).toEqual([
      { kind: 'conversation', key: 'a' },
      { kind: 'conversation', key: 'b' },
    ]);
    expect(callsIn(read)).toHaveLength(4);
    expect(messagesIn(read)[0]?.at).toBe(Date.parse('2026-09-01T10:00:00Z'));
  }
  const broken = { ...row(1, 'a', {}), message_data: '{' };
  await expect(itemsOf(openaiAgents, JSON.stringify([broken]))).rejects.toMatchObject({
    code: 'E_INPUT_TRUNCATED',
  });
  expect(await isRecognised(openaiAgents, '[{"role": "user", "content": "Hi"}]')).toBe(false);
});

test('sessions that are made give the same calls and results', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.string({ minLength: 1, maxLength: 9 }), { minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 5,
      }),
      async (turns) => {
        const made = turns.flatMap((outputs, at) => [
          { role: 'user', content: 'q' },
          ...outputs.map((_output, index) => called(`c${at}.${index}`)),
          ...outputs.map((output, index) => gave(`c${at}.${index}`, output)),
          said(`a${at}`),
        ]);
        const read = await itemsOf(openaiAgents, JSON.stringify(made));
        expect(
          callsIn(read).map(({ answer }) =>
            Array.isArray(answer?.['tool_calls']) ? answer['tool_calls'].length : 0,
          ),
        ).toEqual(turns.flatMap(({ length }) => [length, 0]));
        expect(
          messagesIn(read)
            .filter(({ role }) => role === 'tool')
            .map(({ messages: [message] }) => message?.['content']),
        ).toEqual(turns.flat());
      },
    ),
  );
});

test('a damaged session gives items or a coded error', async () => {
  await survivesDamage(openaiAgents, [items]);
  await survivesDamage(openaiAgents, [[row(1, 'a', said('x')), row(2, 'b', called('c'))]]);
});
