import { expect, test } from 'vitest';
import { readAnswer, writeAnswer } from '../src/index.ts';

const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"pier":2}' } };
const APIS = ['openai.chat', 'openai.responses', 'anthropic.messages'] as const;

test.each(APIS.flatMap((api) => [false, true].map((stream) => [api, stream] as const)))(
  'what is written as an answer is read as that answer (%s, stream %s)',
  (api, stream) => {
    for (const message of [
      { role: 'assistant', content: 'Three ships.' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'assistant', content: 'I look.', tool_calls: [CALL, { ...CALL, id: 'call_2' }] },
    ]) {
      const written = writeAnswer(api, { message, model: 'm', id: 'x1', at: 7, stream });
      expect(written.contentType).toBe(stream ? 'text/event-stream' : 'application/json');
      const read = readAnswer(api, { status: 200, contentType: written.contentType }, written.body);
      expect(read).toMatchObject({ complete: true, error: null, model: 'm' });
      expect(String(read.id)).toContain('x1');
      const calls = (read.answer?.['tool_calls'] ?? []) as readonly (typeof CALL)[];
      expect(calls.map(({ id, function: { name, arguments: given } }) => [id, name, given])).toEqual(
        (message.tool_calls ?? []).map(({ id }) => [id, 'look', '{"pier":2}']),
      );
      expect(JSON.stringify(read.answer?.['content'] ?? '')).toContain(message.content ?? '');
    }
  },
);

test('arguments that are no JSON are those of nothing for an API that takes an object', () => {
  const message = { role: 'assistant', tool_calls: [{ function: { name: 'look', arguments: '{' } }] };
  const { body } = writeAnswer('anthropic.messages', { message, model: 'm', id: 'x', at: 0, stream: false });
  expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({
    content: [{ type: 'tool_use', id: 'call_x_0', name: 'look', input: {} }],
  });
});
