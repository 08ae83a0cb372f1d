import type { WideJson, WideJsonObject } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer, sameMessage, type ModelApi } from '../src/index.ts';
import { json } from './any-request.ts';
import { bytesOf, messagesOf } from './read-good.ts';
import { ANTHROPIC, CHAT, RESPONSE, RESPONSES } from './streams.ts';

const answerOf = (api: ModelApi, bytes: Uint8Array): WideJsonObject => {
  const { answer } = readAnswer(api, { status: 200, contentType: null }, bytes);
  if (answer === null) throw new Error('there is no answer');
  return answer;
};
const user = { role: 'user', content: 'Weather?' };

/** Each of them is the answer, or none is. */
const expectSame = (answer: WideJsonObject, echoes: readonly (WideJson | undefined)[], same = true): void => {
  for (const echo of echoes) {
    expect({ echo, same: sameMessage(answer, echo ?? null) }).toEqual({ echo, same });
    expect(sameMessage(echo ?? null, answer)).toBe(same);
  }
};

describe('an answer and what a client sends back of it are the same message', () => {
  const fn = { name: 'get_weather', arguments: '{"city": "Paris"}' };
  const calls = [
    { id: 'call_1', type: 'function', function: fn },
    { id: 'call_2', type: 'function', function: { name: 'get_time', arguments: '{}' } },
  ];
  const echoed = (message: WideJson) => messagesOf('openai.chat', { messages: [user, message] }).at(-1);

  it('of OpenAI chat', () => {
    expectSame(answerOf('openai.chat', CHAT), [
      echoed({ role: 'assistant', content: 'I look.', tool_calls: calls }),
      echoed({ role: 'assistant', content: 'I look.', refusal: null, annotations: [], tool_calls: calls }),
      echoed({ role: 'assistant', content: 'I look.', audio: null, function_call: null, tool_calls: calls }),
      echoed({ role: 'assistant', content: 'I look.', name: 'Bo', tool_calls: calls }),
      echoed({
        ...{ role: 'assistant', content: 'I look.' },
        tool_calls: calls.map((call, index) => ({ index, ...call })),
      }),
      // `chat.completions.stream` of the clients for JavaScript and Python
      echoed({ role: 'assistant', content: 'I look.', refusal: null, tool_calls: calls, parsed: { a: 1 } }),
      echoed({
        ...{ role: 'assistant', content: 'I look.', refusal: null, annotations: null, parsed: null },
        tool_calls: calls.map((call, index) => ({
          ...{ ...call, index },
          function: { ...call.function, parsed_arguments: { city: 'Paris' } },
        })),
      }),
    ]);
    const message = { role: 'assistant', content: null, refusal: null, annotations: [], tool_calls: calls };
    const answer = answerOf('openai.chat', bytesOf({ choices: [{ index: 0, message }] }));
    expectSame(answer, [
      echoed(message),
      echoed({ role: 'assistant', tool_calls: calls }),
      echoed({ role: 'assistant', content: '', tool_calls: calls }),
    ]);
  });

  it('of OpenAI chat with audio and web citations', () => {
    const audio = { id: 'audio_1', data: 'aGk=', transcript: 'Hi.', expires_at: 1 };
    const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a.example' } }];
    const message = { role: 'assistant', content: null, audio, annotations };
    const answer = answerOf('openai.chat', bytesOf({ choices: [{ message }] }));
    expectSame(answer, [{ role: 'assistant', audio: { id: 'audio_1' } }]);
    expectSame(answer, [{ role: 'assistant', audio: { id: 'audio_2' } }, { role: 'assistant' }], false);
  });

  it('of OpenAI responses', () => {
    const echo = (output: readonly WideJson[]) =>
      messagesOf('openai.responses', { input: [user, ...output] }).at(-1);
    const [reasoning, message, call] = RESPONSE.output as WideJsonObject[];
    const [said] = message?.['content'] as WideJsonObject[];
    const [cited] = said?.['annotations'] as WideJsonObject[];
    // `model_dump` of the client for Python writes null for what it knows.
    const text = { ...said, annotations: [{ ...cited, title: null }], logprobs: null, parsed: null };
    const python = [
      { ...reasoning, content: null, encrypted_content: null, status: null },
      { ...message, content: [text], phase: null },
      { ...call, namespace: null, parsed_arguments: null },
    ];
    for (const bytes of [RESPONSES, bytesOf(RESPONSE)])
      expectSame(answerOf('openai.responses', bytes), [echo(RESPONSE.output), echo(python)]);
    const alone = { ...RESPONSE, output: [RESPONSE.output[1] as WideJson] };
    expectSame(answerOf('openai.responses', bytesOf(alone)), [echo(alone.output)]);
  });

  it('of Anthropic messages', () => {
    const echo = (content: WideJson) =>
      messagesOf('anthropic.messages', { messages: [user, { role: 'assistant', content }] }).at(-1);
    const thinking = { type: 'thinking', thinking: 'A city, é 😀', signature: 'EqQB' };
    const call = {
      ...{ type: 'tool_use', id: 'toolu_1', name: 'get_weather' },
      input: { location: 'San Francisco', days: 2 },
    };
    const citations = [{ type: 'char_location', document_index: 0 }];
    expectSame(answerOf('anthropic.messages', ANTHROPIC), [
      echo([thinking, { type: 'text', text: 'I look.', citations }, call]),
    ]);
    const content = [{ type: 'text', text: 'I look.' }, call, { type: 'text', text: 'Done.' }];
    expectSame(answerOf('anthropic.messages', bytesOf({ content })), [
      echo(content),
      echo(
        content.map((block) => ({
          ...block,
          ...(block.type === 'text' ? { citations: null } : { caller: null }),
        })),
      ),
    ]);
  });
});

describe('messages are not the same', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const part = { type: 'text', text: 'a' };
  const message = { role: 'assistant', content: [part], tool_calls: [call] };

  it.each<[string, WideJson]>([
    ['another role', { ...message, role: 'user' }],
    ['another text', { ...message, content: [{ type: 'text', text: 'b' }] }],
    ['another form', { ...message, content: 'a' }],
    ['a part more', { ...message, content: [part, part] }],
    ['no content', { ...message, content: null }],
    ['a citation', { ...message, content: [{ ...part, citations: [{}] }] }],
    ['another call', { ...message, tool_calls: [{ ...call, id: 'call_2' }] }],
    ['other arguments', { ...message, tool_calls: [{ ...call, function: { name: 'f', arguments: '{ }' } }] }],
    ['no calls', { ...message, tool_calls: null }],
    ['a refusal', { ...message, refusal: 'No.' }],
    ['an old call', { ...message, function_call: { name: 'f', arguments: '{}' } }],
    ['a field that no client adds', { ...message, reasoning_content: 'So.' }],
    ['an empty field that no client adds', { ...message, reasoning_content: '' }],
    ['nothing in common', null],
  ])('with %s', (_what, other) => {
    expectSame(message, [other], false);
  });

  it('with two different names or indexes', () => {
    expect(sameMessage({ ...message, name: 'Al' }, { ...message, name: 'Bo' })).toBe(false);
    const indexed = (index: number) => ({ ...message, tool_calls: [{ ...call, index }] });
    expect(sameMessage(indexed(0), indexed(1))).toBe(false);
  });
});

it('every message is the same as itself, and the order of two does not count', () => {
  const message = fc.oneof(
    json,
    fc.record({ content: json, tool_calls: json, name: json, audio: json }, { requiredKeys: [] }),
  );
  fc.assert(
    fc.property(message, message, (a, b) => {
      expect(sameMessage(a, structuredClone(a))).toBe(true);
      expect(sameMessage(a, b)).toBe(sameMessage(b, a));
    }),
  );
});
