import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { readAnswer, type ModelApi } from '@stemma/model-apis';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS, openRerun, replaceInBody, type Replacements } from '../src/index.ts';
import { attempt, conversation, cycle, LIVE_AT, message, RECORDED_AT } from './agents.ts';

const [U, V] = ['3f2a1b0c-aaaa-4bbb-8ccc-ddddeeeeffff', '0f0e0d0c-1234-4222-8333-444455556666'];
const [T, N] = ['2026-11-12T10:00:01Z', '2026-11-28T01:30:00.123Z'];
const [P, Q] = ['/tmp/run-a1', '/tmp/run-b22222'];

/** What is put into answers where a request said these. */
const replacements = (): Replacements => {
  const request = (...values: readonly string[]): WideJsonObject => ({
    messages: [message('user', values.join(' '))],
  });
  const recording = {
    conversations: [
      conversation('main', [
        cycle({ label: '@c1', at: RECORDED_AT, request: request(U, T, P), attempts: [attempt()] }),
      ]),
    ],
  };
  const match = openRerun(recording, DEFAULT_OPTIONS).match(
    { api: 'openai.chat', path: null, request: request(V, N, Q) },
    LIVE_AT,
  );
  if (match.kind !== 'serve') throw new Error(`The call is not served: ${match.kind}`);
  return match.replacements;
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (given: Uint8Array): string => new TextDecoder().decode(given);
const json = (value: WideJson): string => JSON.stringify(value);

const inNow = (said: string): string => said.replaceAll(U, V).replaceAll(T, N).replaceAll(P, Q);

/** What the model says, as a text and in the arguments of a tool. */
type Said = { readonly text: string; readonly input: WideJsonObject };

const event = (data: WideJsonObject, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${json(data)}\n\n`;

/** The bodies of one answer, whole and as a stream whose texts are cut into pieces. */
type Bodies = (
  said: Said,
  cut: (whole: string) => readonly string[],
) => { readonly whole: string; readonly stream: string };

const BODIES: { readonly [api in Exclude<ModelApi, 'other' | `bedrock.${string}`>]: Bodies } = {
  'openai.chat': ({ text: content, input }, cut) => {
    const chunk = (delta: WideJsonObject, finish: string | null = null): string =>
      event({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] });
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } };
    return {
      whole: json({
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content,
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'look', arguments: json(input) } },
              ],
            },
          },
        ],
      }),
      stream: [
        chunk({ role: 'assistant', content: '' }),
        ...cut(content).map((piece) => chunk({ content: piece })),
        chunk({ tool_calls: [call] }),
        ...cut(json(input)).map((piece) =>
          chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
        ),
        chunk({}, 'tool_calls'),
        'data: [DONE]\n\n',
      ].join(''),
    };
  },
  'anthropic.messages': ({ text: content, input }, cut) => {
    const block = (index: number, type: string, rest: WideJsonObject): string =>
      event({ type, index, ...rest }, type);
    const use = { type: 'tool_use', id: 'toolu_1', name: 'look' };
    const thinking = { type: 'thinking', thinking: `Of ${U}.`, signature: `s${U}` };
    return {
      whole: json({
        content: [thinking, { type: 'text', text: content }, { ...use, input }],
        stop_reason: 'tool_use',
      }),
      stream: [
        event({ type: 'message_start', message: { content: [] } }),
        block(0, 'content_block_start', { content_block: { type: 'thinking', thinking: '', signature: '' } }),
        ...cut(thinking.thinking).map((piece) =>
          block(0, 'content_block_delta', { delta: { type: 'thinking_delta', thinking: piece } }),
        ),
        block(0, 'content_block_delta', {
          delta: { type: 'signature_delta', signature: thinking.signature },
        }),
        block(1, 'content_block_start', { content_block: { type: 'text', text: '' } }),
        ...cut(content).map((piece) =>
          block(1, 'content_block_delta', { delta: { type: 'text_delta', text: piece } }),
        ),
        block(2, 'content_block_start', { content_block: { ...use, input: {} } }),
        ...cut(json(input)).map((piece) =>
          block(2, 'content_block_delta', { delta: { type: 'input_json_delta', partial_json: piece } }),
        ),
        event({ type: 'message_delta', delta: { stop_reason: 'tool_use' } }),
        event({ type: 'message_stop' }),
      ].join(''),
    };
  },
  'openai.responses': ({ text: content, input }, cut) => {
    const part = { type: 'output_text', text: content, annotations: [] };
    const output = [
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: `e ${U}` },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [part] },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: json(input) },
    ];
    const delta = (kind: string, index: number, piece: string): string =>
      event({ type: `response.${kind}.delta`, output_index: index, content_index: 0, delta: piece });
    const added = (index: number, item: WideJsonObject): string =>
      event({ type: 'response.output_item.added', output_index: index, item });
    return {
      whole: json({ status: 'completed', output }),
      stream: [
        event({ type: 'response.created', response: { status: 'in_progress', output: [] } }),
        added(0, output[0] as WideJsonObject),
        added(1, { type: 'message', id: 'msg_1', role: 'assistant', content: [] }),
        event({
          type: 'response.content_part.added',
          output_index: 1,
          content_index: 0,
          part: { type: 'output_text', text: '', annotations: [] },
        }),
        ...cut(content).map((piece) => delta('output_text', 1, piece)),
        added(2, { ...(output[2] as WideJsonObject), arguments: '' }),
        ...cut(json(input)).map((piece) => delta('function_call_arguments', 2, piece)),
        event({ type: 'response.completed', response: { status: 'completed', output: [] } }),
      ].join(''),
    };
  },
  'gemini.generate': ({ text: content, input }, cut) => {
    const call = { functionCall: { name: 'look', args: input } };
    const chunk = (parts: readonly WideJson[], finish: WideJsonObject = {}): string =>
      event({ candidates: [{ index: 0, content: { role: 'model', parts }, ...finish }] });
    return {
      whole: json({
        candidates: [
          { index: 0, content: { role: 'model', parts: [{ text: content }, call] }, finishReason: 'STOP' },
        ],
      }),
      stream: [
        ...(content === '' ? [''] : cut(content)).map((piece) => chunk([{ text: piece }])),
        chunk([call], { finishReason: 'STOP' }),
      ].join(''),
    };
  },
  'ollama.chat': ({ text: content, input }, cut) => {
    const call = { function: { name: 'look', arguments: input } };
    const line = (message: WideJsonObject, done = false): string =>
      `${json({ message: { role: 'assistant', ...message }, done, ...(done ? { done_reason: 'stop' } : {}) })}\n`;
    return {
      whole: json({
        message: { role: 'assistant', content, tool_calls: [call] },
        ...{ done: true, done_reason: 'stop' },
      }),
      stream: [
        ...cut(content).map((piece) => line({ content: piece })),
        line({ content: '', tool_calls: [call] }),
        line({ content: '' }, true),
      ].join(''),
    };
  },
  'ollama.generate': ({ text: content }, cut) => ({
    whole: json({ response: content, done: true, done_reason: 'stop' }),
    stream: [
      ...cut(content).map((piece) => `${json({ response: piece, done: false })}\n`),
      `${json({ response: '', done: true, done_reason: 'stop' })}\n`,
    ].join(''),
  }),
  'cohere.chat': ({ text: content, input }, cut) => {
    const call = { id: 'look_1', type: 'function', function: { name: 'look', arguments: '' } };
    const said = (type: string, index: number, message: WideJsonObject): string =>
      event({ type, index, delta: { message } }, type);
    return {
      whole: json({
        id: 'c',
        finish_reason: 'TOOL_CALL',
        message: {
          role: 'assistant',
          content: [{ type: 'text', text: content }],
          tool_calls: [{ ...call, function: { name: 'look', arguments: json(input) } }],
        },
      }),
      stream: [
        event({ type: 'message-start', id: 'c', delta: { message: { role: 'assistant', content: [] } } }),
        said('content-start', 0, { content: { type: 'text', text: '' } }),
        ...cut(content).map((piece) => said('content-delta', 0, { content: { text: piece } })),
        said('tool-call-start', 0, { tool_calls: call }),
        ...cut(json(input)).map((piece) =>
          said('tool-call-delta', 0, { tool_calls: { function: { arguments: piece } } }),
        ),
        event({ type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } }),
      ].join(''),
    };
  },
};

const APIS = Object.keys(BODIES) as (keyof typeof BODIES)[];

/** Cuts a text at the places that the sizes give. */
const cutter =
  (sizes: readonly number[]) =>
  (whole: string): readonly string[] => {
    const pieces: string[] = [];
    let at = 0;
    for (let i = 0; at < whole.length; i++) {
      const size = sizes[i % sizes.length] as number;
      pieces.push(whole.slice(at, at + size));
      at += size;
    }
    return pieces;
  };

const [STREAM, JSON_TYPE] = ['text/event-stream', 'application/json'];

const read = (api: ModelApi, contentType: string, body: Uint8Array): unknown =>
  readAnswer(api, { status: 200, contentType }, body).answer;

const words = fc.array(fc.constantFrom('On', U, T, P, 'a «b»', `${P}/x.txt`, '\n', '"', 'the 3rd'), {
  maxLength: 8,
});
const said = words.map((each) => each.join(' '));

describe.each(APIS)('an answer of %s', (api) => {
  test('streamed in any pieces says the same of now as the whole does', () => {
    fc.assert(
      fc.property(
        said,
        said,
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (content, argument, sizes) => {
          const { whole, stream } = BODIES[api]({ text: content, input: { said: argument } }, cutter(sizes));
          const values = replacements();
          const streamed = read(api, STREAM, replaceInBody(api, STREAM, bytes(stream), values));
          expect(streamed).toEqual(read(api, JSON_TYPE, replaceInBody(api, JSON_TYPE, bytes(whole), values)));
          const { whole: expected } = BODIES[api](
            { text: inNow(content), input: { said: inNow(argument) } },
            cutter(sizes),
          );
          expect(streamed).toEqual(read(api, JSON_TYPE, bytes(expected)));
        },
      ),
    );
  });

  test('keeps every byte but those of the values', () => {
    const { whole, stream } = BODIES[api]({ text: `é ${U} \u2028`, input: { at: T } }, cutter([7]));
    const values = replacements();
    const spaced = whole.replaceAll(':', ' :  ').replaceAll('é', '\\u00e9');
    expect(text(replaceInBody(api, JSON_TYPE, bytes(spaced), values))).toBe(
      api === 'openai.chat'
        ? spaced.replaceAll(U, V)
        : text(replaceInBody(api, JSON_TYPE, bytes(spaced), values)),
    );
    const nothing = 'data: {"a" :1}\r\n\r\n: comment\n\nevent: x\ndata: [DONE]\n\n';
    expect(text(replaceInBody(api, STREAM, bytes(nothing), values))).toBe(nothing);
    expect(stream).not.toContain(V);
  });
});

test('what is signed or encrypted stays to the byte', () => {
  const { whole } = BODIES['anthropic.messages']({ text: U, input: {} }, cutter([9]));
  const replaced = text(replaceInBody('anthropic.messages', JSON_TYPE, bytes(whole), replacements()));
  expect(replaced).toContain(`{"type":"thinking","thinking":"Of ${U}.","signature":"s${U}"}`);
  expect(replaced).toContain(`{"type":"text","text":"${V}"}`);
  const { whole: response } = BODIES['openai.responses']({ text: U, input: {} }, cutter([9]));
  expect(text(replaceInBody('openai.responses', JSON_TYPE, bytes(response), replacements()))).toContain(
    `e ${U}`,
  );
});

test('a stream that is cut anywhere keeps its tail', () => {
  const { stream } = BODIES['openai.chat']({ text: `Order ${U} «done»`, input: {} }, cutter([5]));
  const whole = bytes(stream);
  for (let end = 0; end < whole.length; end += 13) {
    const cut = replaceInBody('openai.chat', STREAM, whole.subarray(0, end), replacements());
    const lastLine = whole.subarray(0, end).lastIndexOf(0x0a) + 1;
    expect(text(cut).endsWith(text(whole.subarray(lastLine, end)))).toBe(true);
  }
});

test('a body that is no JSON, or not UTF-8, is served as it is', () => {
  for (const body of [
    bytes(`<html>${U}</html>`),
    new Uint8Array([0x7b, 0xff]),
    bytes(''),
    bytes(`{"a": "${U}`),
  ])
    expect(replaceInBody('openai.chat', JSON_TYPE, body, replacements())).toEqual(body);
});
