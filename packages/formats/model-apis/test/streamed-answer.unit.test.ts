import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer, type ModelApi } from '../src/index.ts';
import { json } from './any-request.ts';
import { bytesOf } from './read-good.ts';
import { ANTHROPIC, CHAT, chatStream, namedStream, RESPONSE, RESPONSES, RESPONSES_BEGIN } from './streams.ts';

const head = { status: 200, contentType: 'text/event-stream; charset=utf-8' };
const read = (api: ModelApi, bytes: Uint8Array) => readAnswer(api, head, bytes);
const fn = (id: string, name: string, args: string) => ({
  ...{ id, type: 'function' },
  function: { name, arguments: args },
});
/** The bytes before the n-th time that a text occurs in them. */
const before = (bytes: Uint8Array, text: string): Uint8Array => {
  const at = Buffer.from(bytes).indexOf(text);
  expect(at).toBeGreaterThan(0);
  return bytes.subarray(0, at);
};

describe('a stream of OpenAI chat', () => {
  const answer = {
    ...{ role: 'assistant', content: 'I look.', refusal: null },
    tool_calls: [fn('call_1', 'get_weather', '{"city": "Paris"}'), fn('call_2', 'get_time', '{}')],
  };
  const whole = {
    answer,
    finishReason: 'tool_calls',
    model: 'gpt-4o-mini',
    id: 'chatcmpl-1',
    usage: { input: 82, output: 17, cached: null, cacheWrite: null, reasoning: null },
    error: null,
    ...{ complete: true, pending: false },
  };

  it('makes up one message', () => {
    expect(read('openai.chat', CHAT)).toEqual(whole);
  });

  it('is known by its beginning if the server names another type', () => {
    expect(readAnswer('openai.chat', { status: 200, contentType: null }, CHAT)).toEqual(whole);
  });

  it('that ends early gives what there is', () => {
    expect(read('openai.chat', before(CHAT, 'data: [DONE]'))).toEqual({ ...whole, complete: false });
    expect(read('openai.chat', before(CHAT, ' \\"Paris'))).toEqual({
      ...whole,
      answer: { ...answer, tool_calls: [fn('call_1', 'get_weather', '{"city":')] },
      ...{ finishReason: null, usage: null, complete: false },
    });
  });

  it('may leave the index of its calls out, repeat their names, and hold an error', () => {
    const chunk = (call: object) => ({ choices: [{ delta: { tool_calls: [{ ...call }] } }] });
    const stream = chatStream([
      chunk({ id: 'a', function: { name: 'f', arguments: '{' } }),
      chunk({ id: 'a', function: { name: 'f', arguments: '}' } }),
      chunk({ id: 'b', function: { name: 'g', arguments: '1' } }),
      chunk({ id: '', function: { name: '', arguments: '2' } }),
      { error: { message: 'Overloaded', code: 503 } },
    ]);
    expect(read('openai.chat', stream)).toMatchObject({
      answer: {
        ...{ role: 'assistant', content: null },
        tool_calls: [
          { id: 'a', function: { name: 'f', arguments: '{}' } },
          { id: 'b', function: { name: 'g', arguments: '12' } },
        ],
      },
      error: { code: '503', message: 'Overloaded' },
    });
  });
});

it('calls that have neither index nor id are told apart by their names', () => {
  const chunk = (call: object) => ({ choices: [{ delta: { tool_calls: [{ ...call }] } }] });
  const stream = chatStream([
    chunk({ function: { name: 'f', arguments: '{' } }),
    chunk({ function: { arguments: '}' } }),
    chunk({ function: { name: 'g', arguments: '{}' } }),
  ]);
  expect(read('openai.chat', stream).answer?.['tool_calls']).toEqual([
    { function: { name: 'f', arguments: '{}' } },
    { function: { name: 'g', arguments: '{}' } },
  ]);
});

it(
  'what no record may hold is made what it may in the input of a streamed call, too',
  { tags: ['record§1'] },
  () => {
    const block = { type: 'tool_use', id: 't', name: 'f', input: {} };
    const delta = (partial_json: string) => ({
      ...{ type: 'content_block_delta', index: 0 },
      delta: { type: 'input_json_delta', partial_json },
    });
    const stream = namedStream([
      { type: 'message_start', message: { role: 'assistant', content: [] } },
      { type: 'content_block_start', index: 0, content_block: block },
      delta(String.raw`{"a":"\ud8`),
      delta(String.raw`00","constructor":1}`),
    ]);
    expect(read('anthropic.messages', stream).answer?.['tool_calls']).toEqual([
      fn('t', 'f', '{"a":"\ufffd","constructor\ufffd":1}'),
    ]);
  },
);

describe('a stream of OpenAI responses', () => {
  const whole = readAnswer('openai.responses', head, bytesOf(RESPONSE));

  it('makes up what its last event holds', () => {
    expect(whole).toMatchObject({ complete: true, usage: { input: 36, output: 87, reasoning: 64 } });
    expect(read('openai.responses', RESPONSES)).toEqual(whole);
  });

  it('that ends early gives the items so far', () => {
    const early = { ...whole, finishReason: null, usage: null, complete: false };
    expect(read('openai.responses', namedStream(RESPONSES_BEGIN))).toEqual(early);
    expect(read('openai.responses', before(RESPONSES, 'event: response.content_part.done'))).toMatchObject({
      answer: { content: [{ summary: [{ text: 'A city.' }] }, { text: 'I look.', annotations: [{}] }] },
    });
    expect(read('openai.responses', before(RESPONSES, '\\"Paris'))).toMatchObject({
      answer: { tool_calls: [{ function: { arguments: '{"city":' } }] },
    });
  });

  it('says why it failed or is incomplete', () => {
    const error = { code: 'server_error', message: 'It broke.' };
    const failed = {
      type: 'response.failed',
      response: { ...RESPONSE, status: 'failed', output: [], error },
    };
    const outer = { type: 'error', code: 'rate_limit', message: 'Slow down.', param: null };
    expect(read('openai.responses', namedStream([...RESPONSES_BEGIN, failed]))).toMatchObject({
      ...{ answer: { role: 'assistant' }, error, finishReason: 'failed', complete: true },
    });
    expect(read('openai.responses', namedStream([...RESPONSES_BEGIN, outer]))).toMatchObject({
      ...{ error: { code: 'rate_limit', message: 'Slow down.' }, complete: false },
    });
    const incomplete = {
      ...RESPONSE,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    };
    expect(
      read('openai.responses', namedStream([{ type: 'response.incomplete', response: incomplete }])),
    ).toMatchObject({ finishReason: 'max_output_tokens', complete: true, answer: whole.answer });
  });
});

describe('a stream of several choices', () => {
  const chunk = (index: number, delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ model: 'm', choices: [{ index, delta, finish_reason: finish }] })}\n\n`;
  const call = (text: string) => ({
    tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: text } }],
  });

  it('keeps them apart, whatever their order: the first is the answer', () => {
    const text = [
      ...[chunk(1, { role: 'assistant', content: 'blue' }), chunk(0, { content: 'red' })],
      ...[chunk(2, call('{')), chunk(0, { content: ' boat' }), chunk(1, { content: ' ship' })],
      ...[chunk(1, {}, 'length'), chunk(0, {}, 'stop'), 'data: [DONE]\n\n'],
    ].join('');
    expect(read('openai.chat', Buffer.from(text))).toMatchObject({
      answer: { role: 'assistant', content: 'red boat' },
      others: [
        { role: 'assistant', content: 'blue ship' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { arguments: '{' } }] },
      ],
      ...{ finishReason: 'stop', complete: true },
    });
  });
});

describe('a stream of Anthropic messages', () => {
  const thinking = { type: 'thinking', thinking: 'A city, é 😀', signature: 'EqQB' };
  const citation = { type: 'char_location', document_index: 0 };
  const text = { type: 'text', text: 'I look.', citations: [citation] };
  const whole = {
    answer: {
      ...{ role: 'assistant', content: [thinking, text] },
      tool_calls: [fn('toolu_1', 'get_weather', '{"location":"San Francisco","days":2}')],
    },
    finishReason: 'tool_use',
    model: 'claude-sonnet-4-5',
    id: 'msg_1',
    usage: { input: 492, output: 89, cached: 20, cacheWrite: 0, reasoning: 7 },
    error: null,
    ...{ complete: true, pending: false },
  };

  it('makes up one message', () => {
    expect(read('anthropic.messages', ANTHROPIC)).toEqual(whole);
  });

  it('that ends early gives what there is; a call without all of its input is no call yet, and the tokens of the answer are not known', () => {
    expect(read('anthropic.messages', before(ANTHROPIC, 'ncisco'))).toMatchObject({
      answer: {
        role: 'assistant',
        content: [thinking, text, { type: 'tool_use', id: 'toolu_1', name: 'get_weather' }],
      },
      ...{ finishReason: null, complete: false, usage: { input: 492, output: null } },
    });
    expect(read('anthropic.messages', before(ANTHROPIC, '"signature_delta'))).toMatchObject({
      answer: { content: [{ ...thinking, signature: '' }] },
    });
  });

  it('may end with an error', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    const stream = Buffer.concat([
      before(ANTHROPIC, 'event: message_delta'),
      namedStream([{ type: 'error', error }]),
    ]);
    expect(read('anthropic.messages', stream)).toMatchObject({
      answer: whole.answer,
      error: { code: 'overloaded_error', message: 'Overloaded' },
      ...{ complete: false, pending: false },
    });
  });
});

describe('any stream', () => {
  const streams = [
    ['openai.chat', CHAT],
    ['openai.responses', RESPONSES],
    ['anthropic.messages', ANTHROPIC],
  ] as const;

  it.each(streams)('ends with its first event that cannot be read: %s', (api, stream) => {
    const bad = Buffer.concat([
      stream.subarray(0, stream.indexOf(0x0a) + 1),
      Buffer.from('\n\ndata: {"a\n\n'),
      stream,
    ]);
    const answer = read(api, bad);
    expect(answer.complete).toBe(false);
    expect(answer.error?.code).toMatch(/^E_INPUT_(TRUNCATED|NOT_JSON)$/);
    const binary = Buffer.concat([Buffer.from('data: "\xff"\n\n', 'latin1'), stream]);
    expect(read(api, binary)).toMatchObject({
      answer: null,
      error: { code: 'E_INPUT_ENCODING' },
      ...{ complete: false, pending: false },
    });
    expect(read(api, Buffer.from('data: 1\n\n')).error?.code).toBe('E_INPUT_SHAPE');
  });

  it.each(streams)('may nest its values as deep as any JSON: %s', (api, stream) => {
    const deep = '['.repeat(500) + ']'.repeat(500);
    const odd = `data: {"type":"message_start","message":{"content":[],"x":${deep}},"choices":[{"delta":{"x":${deep}}}],"output_index":0,"item":${deep}}\n\n`;
    const answer = read(api, Buffer.concat([Buffer.from(odd + odd), stream]));
    expect(answer).toMatchObject({ complete: true, error: null });
  });

  it('that is cut anywhere, or holds anything, never throws, and a cut one is never complete', () => {
    const kind = fc.constantFrom(...streams);
    fc.assert(
      fc.property(kind, fc.double({ min: 0, max: 1, noNaN: true }), ([api, stream], part) => {
        const cut = read(api, stream.subarray(0, Math.floor(part * (stream.length - 3))));
        expect({ complete: cut.complete, error: cut.error }).toEqual({ complete: false, error: null });
      }),
    );
    const field = fc.oneof(json, fc.constantFrom(0, 1, -1, 0.5, 1e9));
    const names = RESPONSES_BEGIN.map(({ type }) => type);
    const type = fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'message_delta',
      ...names,
    );
    const delta = fc.record({
      type: field,
      text: field,
      partial_json: field,
      citation: field,
      tool_calls: field,
    });
    const fields = {
      ...{
        response: json,
        item: json,
        part: json,
        message: json,
        content_block: json,
        usage: json,
        index: field,
      },
      ...{ output_index: field, content_index: field, summary_index: field, delta: fc.oneof(json, delta) },
      choices: fc.array(fc.record({ delta: fc.oneof(json, delta) })),
    };
    const event = fc.tuple(type, fc.record(fields, { requiredKeys: [] }), fc.boolean());
    fc.assert(
      fc.property(kind, fc.array(event, { maxLength: 12 }), ([api, start], events) => {
        const odd = namedStream(events.map(([name, rest]) => ({ ...rest, type: name })));
        const answer = read(api, Buffer.concat([before(start, '\n\n'), Buffer.from('\n\n'), odd]));
        expect(answer.answer === null || answer.answer['role'] === 'assistant').toBe(true);
        expect(answer.error?.code).not.toBe('E_INTERNAL');
      }),
    );
  });
});
