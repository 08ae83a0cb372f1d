import type { WideJson, WideJsonObject } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparableMessage, readAnswer, type ModelApi } from '../src/index.ts';
import { json } from './any-request.ts';
import { bytesOf, messagesOf } from './read-good.ts';
import { ANTHROPIC, CHAT, RESPONSE, RESPONSES } from './streams.ts';

const answerOf = (api: ModelApi, bytes: Uint8Array): WideJsonObject => {
  const { answer } = readAnswer(api, { status: 200, contentType: null }, bytes);
  if (answer === null) throw new Error('there is no answer');
  return answer;
};
const user = { role: 'user', content: 'Weather?' };

const areSame = (a: WideJson, b: WideJson): boolean => comparableMessage(a) === comparableMessage(b);

/** Each of them is the answer, or none is. */
const expectSame = (answer: WideJsonObject, echoes: readonly (WideJson | undefined)[], same = true): void => {
  for (const echo of echoes) {
    expect({ echo, same: areSame(answer, echo ?? null) }).toEqual({ echo, same });
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
    ['a part more', { ...message, content: [part, part] }],
    ['no content', { ...message, content: null }],
    ['a citation', { ...message, content: [{ ...part, citations: [{}] }] }],
    ['another call', { ...message, tool_calls: [{ ...call, id: 'call_2' }] }],
    [
      'other arguments',
      { ...message, tool_calls: [{ ...call, function: { name: 'f', arguments: '{"a":1}' } }] },
    ],
    ['no calls', { ...message, tool_calls: null }],
    ['a refusal', { ...message, refusal: 'No.' }],
    ['an old call', { ...message, function_call: { name: 'f', arguments: '{}' } }],
    ['a field that no client adds', { ...message, reasoning_content: 'So.' }],
    ['an empty field that no client adds', { ...message, reasoning_content: '' }],
    ['nothing in common', null],
  ])('with %s', (_what, other) => {
    expectSame(message, [other], false);
  });

  it('with two names of users, or two arguments that are one number in a reader of floats', () => {
    expect(
      areSame({ role: 'user', name: 'Al', content: 'a' }, { role: 'user', name: 'Bo', content: 'a' }),
    ).toBe(false);
    const called = (id: string) => ({ ...call, function: { name: 'f', arguments: `{"id":${id}}` } });
    const of = (id: string) => ({ ...message, tool_calls: [called(id)] });
    expect(areSame(of('90071992547409931'), of('90071992547409930'))).toBe(false);
  });
});

describe('a message has many forms', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const anthropic = (content: WideJson, role = 'user') =>
    messagesOf('anthropic.messages', { messages: [{ role, content }] });
  const responses = (...input: WideJson[]) => messagesOf('openai.responses', { input });
  const fn = (said: string) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: said } });

  it.each<[string, WideJson, WideJson]>([
    ['a text as its only block', anthropic('hi'), anthropic([{ type: 'text', text: 'hi', ...mark }])],
    [
      'a result as its only block',
      anthropic([{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }]),
      anthropic([
        {
          type: 'tool_result',
          tool_use_id: 'c',
          content: [{ type: 'text', text: 'ok' }],
          is_error: false,
          ...mark,
        },
      ]),
    ],
    [
      'an answer as text and as an item with an id',
      responses({ role: 'assistant', content: 'hi' }),
      responses({
        ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' },
        content: [{ type: 'output_text', text: 'hi', annotations: [], logprobs: [] }],
      }),
    ],
    [
      'a call with and without the id of its item',
      responses({ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }),
      responses({
        type: 'function_call',
        id: 'fc_1',
        status: 'completed',
        call_id: 'c',
        name: 'f',
        arguments: '{}',
      }),
    ],
    [
      'a result with and without the id of its item',
      responses({ type: 'function_call_output', call_id: 'c', output: 'ok' }),
      responses({
        type: 'function_call_output',
        id: 'fco_1',
        status: 'completed',
        call_id: 'c',
        output: 'ok',
      }),
    ],
    [
      'reasoning with and without the id of its item',
      responses(
        { type: 'reasoning', summary: [], encrypted_content: 'x' },
        { role: 'assistant', content: 'a' },
      ),
      responses(
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x', content: null, status: null },
        {
          type: 'message',
          id: 'm',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'a' }],
        },
      ),
    ],
    [
      'arguments that a client wrote again',
      { role: 'assistant', content: '', tool_calls: [fn('{"a":1,"b":[2]}')] },
      { role: 'assistant', content: null, tool_calls: [{ ...fn('{"b": [2], "a": 1}'), index: 0 }] },
    ],
    [
      'no arguments',
      { role: 'assistant', tool_calls: [fn('')] },
      { role: 'assistant', tool_calls: [fn('{}')] },
    ],
    [
      'a result with the name of its tool',
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
      { role: 'tool', tool_call_id: 'c', content: 'ok', name: 'f' },
    ],
    [
      'a prompt of the system',
      [{ role: 'system', content: 'x' }],
      [{ role: 'system', content: [{ type: 'text', text: 'x', ...mark }] }],
    ],
    [
      'a prompt of the system with the line that Claude Code writes for the books of its provider',
      [{ role: 'system', content: 'x-anthropic-billing-header: cc_version=2.1; cch=36ee5;\nx' }],
      [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.2; cch=0aaa9;' },
            { type: 'text', text: 'x', ...mark },
          ],
        },
      ],
    ],
  ])('%s', (_what, a, b) => {
    expect(comparableMessage(a)).toBe(comparableMessage(b));
  });

  it.each<[string, WideJson, WideJson]>([
    [
      'an image beside its text',
      anthropic('hi'),
      anthropic([{ type: 'text', text: 'hi' }, { type: 'image' }]),
    ],
    [
      'two texts and one',
      anthropic('ab'),
      anthropic([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ],
    [
      'a failed result',
      anthropic([{ type: 'tool_result', tool_use_id: 'c', content: 'x' }]),
      anthropic([{ type: 'tool_result', tool_use_id: 'c', content: 'x', is_error: true }]),
    ],
    ['a text of a user and of a model', anthropic('hi'), anthropic('hi', 'assistant')],
    ['blanks of a text', anthropic('hi'), anthropic('hi ')],
    [
      'what a user says of the books of a provider',
      anthropic('x-anthropic-billing-header: a\nhi'),
      anthropic('x-anthropic-billing-header: b\nhi'),
    ],
  ])('but not %s', (_what, a, b) => {
    expect(comparableMessage(a)).not.toBe(comparableMessage(b));
  });
});

it('every message is compared, whatever it is, and is the same as its copy', () => {
  const message = fc.oneof(
    json,
    fc.record(
      { content: json, tool_calls: json, name: json, audio: json, items: json, item: json },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(message, (a) => {
      expect(areSame(a, structuredClone(a))).toBe(true);
    }),
  );
});
