import type { WideJson, WideJsonObject } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitRequest, readRequest, rewriteRequest, writeRequest, type ModelApi } from '../src/index.ts';
import { bytesOf, readGood } from './read-good.ts';

/** Those that hold a conversation. */
type WrittenApi = Exclude<ModelApi, 'other' | 'ollama.generate'>;

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const text = fc.string({ minLength: 1, maxLength: 8 });
const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.oneof(text, fc.integer()), {
  maxKeys: 2,
  noNullPrototype: true,
});
const chatTurn = fc.record({ text, id: text, name: text, input, result: text }).chain((turn) =>
  fc.constantFrom<WideJsonObject[]>(
    [{ role: 'user', content: turn.text }],
    [{ role: 'assistant', content: turn.text }],
    [{ role: 'user', content: [{ type: 'text', text: turn.text }] }],
    [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: turn.id,
            type: 'function',
            function: { name: turn.name, arguments: JSON.stringify(turn.input) },
          },
        ],
      },
      { role: 'tool', tool_call_id: turn.id, content: turn.result },
    ],
  ),
);
const blocks = fc.record({ text, id: text, name: text, input, result: text }).map((turn): WideJson[] => [
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: turn.text, signature: 's' },
      { type: 'text', text: turn.text },
      { type: 'tool_use', id: turn.id, name: turn.name, input: turn.input },
      { type: 'text', text: 'behind' },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: turn.id, content: turn.result, is_error: true },
      { type: 'text', text: turn.text, cache_control: { type: 'ephemeral' } },
    ],
  },
  { role: 'user', content: turn.text },
]);
const items = fc.record({ text, id: text, name: text, result: text }).map((turn): WideJson[] => [
  { role: 'user', content: [{ type: 'input_text', text: turn.text }] },
  { type: 'reasoning', id: 'rs', summary: [] },
  { type: 'message', id: 'msg', role: 'assistant', content: [{ type: 'output_text', text: turn.text }] },
  { type: 'function_call', call_id: turn.id, name: turn.name, arguments: '{"a":1}', id: 'fc' },
  { type: 'function_call_output', call_id: turn.id, output: turn.result },
  { type: 'custom_tool_call', call_id: turn.id, name: turn.name, input: turn.text },
  { type: 'custom_tool_call_output', call_id: turn.id, output: turn.result },
]);
const contents = fc.record({ text, name: text, input, result: input, id: text }).map((turn): WideJson[] => [
  { role: 'user', parts: [{ text: turn.text }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
  {
    role: 'model',
    parts: [
      { text: turn.text, thought: true },
      { text: turn.text, thoughtSignature: 's' },
      { functionCall: { name: turn.name, args: turn.input }, thoughtSignature: 't' },
      { functionCall: { name: turn.name, args: {} } },
      { functionCall: { id: `c-${turn.id}`, name: turn.name, args: {} } },
      { text: 'behind' },
    ],
  },
  {
    role: 'user',
    parts: [
      { functionResponse: { name: turn.name, response: turn.result } },
      { functionResponse: { name: turn.name, response: { result: turn.text } } },
      { functionResponse: { id: `c-${turn.id}`, name: turn.name, response: {} } },
      { text: turn.text },
    ],
  },
  { role: 'user', parts: [{ text: turn.text }] },
]);
const ollamaTurns = fc.record({ text, name: text, input }).map((turn): WideJson[] => [
  { role: 'user', content: turn.text, images: ['AA=='] },
  {
    role: 'assistant',
    content: turn.text,
    thinking: turn.text,
    tool_calls: [
      { function: { name: turn.name, arguments: turn.input } },
      { function: { name: turn.name, arguments: {}, index: 1 } },
      { id: 'call_7', function: { name: turn.name, arguments: {} } },
    ],
  },
  { role: 'tool', content: turn.text, tool_name: turn.name },
  { role: 'tool', content: turn.text, tool_name: turn.name },
  { role: 'tool', content: turn.text, tool_name: turn.name, tool_call_id: 'call_7' },
]);
const cohereTurns = fc.record({ text, id: text, name: text }).map((turn): WideJson[] => [
  { role: 'user', content: turn.text },
  {
    role: 'assistant',
    tool_plan: turn.text,
    tool_calls: [{ id: turn.id, type: 'function', function: { name: turn.name, arguments: '{"a":1}' } }],
  },
  {
    role: 'tool',
    content: [{ type: 'document', document: { data: turn.text } }],
    tool_call_id: turn.id,
  },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: turn.text },
      { type: 'text', text: turn.text },
    ],
    citations: [{ start: 0, end: 1, text: 'x' }],
  },
]);
const converseTurns = fc.record({ text, id: text, name: text, input }).map((turn): WideJson[] => [
  { role: 'user', content: [{ text: turn.text }, { cachePoint: { type: 'default' } }] },
  {
    role: 'assistant',
    content: [
      { reasoningContent: { reasoningText: { text: turn.text, signature: 's' } } },
      { text: turn.text },
      { toolUse: { toolUseId: turn.id, name: turn.name, input: turn.input } },
      { text: 'behind' },
    ],
  },
  {
    role: 'user',
    content: [
      {
        toolResult: {
          toolUseId: turn.id,
          content: [{ text: turn.text }, { json: turn.input }],
          status: 'error',
        },
      },
      { text: turn.text },
    ],
  },
]);
const lists: Record<WrittenApi, fc.Arbitrary<WideJsonObject>> = {
  'openai.chat': fc
    .array(chatTurn, { maxLength: 4 })
    .map((turns) => ({ messages: [{ role: 'system', content: 'S' }, ...turns.flat()] })),
  'anthropic.messages': fc
    .array(blocks, { maxLength: 3 })
    .map((turns) => ({ system: 'S', messages: turns.flat() })),
  'openai.responses': fc
    .array(items, { maxLength: 3 })
    .map((turns) => ({ instructions: 'S', input: turns.flat() })),
  'gemini.generate': fc
    .array(contents, { maxLength: 3 })
    .map((turns) => ({ systemInstruction: { parts: [{ text: 'S' }] }, contents: turns.flat() })),
  'ollama.chat': fc
    .array(ollamaTurns, { maxLength: 3 })
    .map((turns) => ({ messages: [{ role: 'system', content: 'S' }, ...turns.flat()] })),
  'cohere.chat': fc
    .array(cohereTurns, { maxLength: 3 })
    .map((turns) => ({ messages: [{ role: 'system', content: 'S' }, ...turns.flat()] })),
  'bedrock.converse': fc
    .array(converseTurns, { maxLength: 3 })
    .map((turns) => ({ system: [{ text: 'S' }], messages: turns.flat() })),
  'bedrock.invoke': fc
    .array(blocks, { maxLength: 3 })
    .map((turns) => ({ anthropic_version: 'bedrock-2023-05-31', system: 'S', messages: turns.flat() })),
};

describe.each(Object.keys(lists) as WrittenApi[])('%s', (api) => {
  it(
    'writes messages that are read as the same ones, and what came from the API as it came',
    { tags: ['calls§6.3'] },
    () => {
      fc.assert(
        fc.property(lists[api], (body) => {
          const read = readGood(api, { model: 'm', ...body });
          const written = writeRequest(api, {
            model: 'm',
            messages: read.messages,
            parameters: {},
            tools: [],
          });
          const again = readRequest(api, written);
          expect(again.ok && again.messages).toEqual(read.messages);
          const fields = JSON.parse(textOf(written)) as Record<string, unknown>;
          for (const [name, value] of Object.entries(body)) expect(fields[name]).toEqual(value);
        }),
      );
    },
  );

  it('writes messages of every other API, with every text, call and result in place', () => {
    for (const from of Object.keys(lists) as WrittenApi[])
      fc.assert(
        fc.property(lists[from], (body) => {
          const { messages } = readGood(from, { model: 'm', ...body });
          const written = writeRequest(api, { model: 'm', messages, parameters: {}, tools: [] });
          const again = readRequest(api, written);
          if (!again.ok) throw new Error(again.reason);
          expect(callsAndResults(again.messages)).toEqual(callsAndResults(messages));
        }),
        { numRuns: 30 },
      );
  });
});

const callsAndResults = (messages: readonly WideJsonObject[]): unknown[] =>
  messages.flatMap(({ role, tool_calls: calls, tool_call_id: id }) => [
    ...(Array.isArray(calls)
      ? (calls as { id: string; function?: { name: string }; custom?: { name: string } }[]).map((call) => [
          call.id,
          call.function?.name ?? call.custom?.name,
        ])
      : []),
    ...(role === 'tool' ? [[id]] : []),
  ]);

it('fits parameters and tools to another API, and names what it has nothing like', () => {
  const tool = {
    type: 'function',
    function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
  };
  const parameters = {
    max_tokens: 9,
    temperature: 0,
    stop: 'END',
    tool_choice: 'required',
    seed: 7,
    stream_options: {},
  };
  expect(fitRequest('openai.chat', 'anthropic.messages', { parameters, tools: [tool, 1] })).toEqual({
    parameters: { max_tokens: 9, temperature: 0, stop_sequences: ['END'], tool_choice: { type: 'any' } },
    tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
    dropped: ['seed', 'tools[1]'],
  });
  const back = fitRequest('anthropic.messages', 'openai.chat', {
    parameters: { max_tokens: 9, tool_choice: { type: 'tool', name: 'look' }, thinking: {} },
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
  });
  expect(back).toEqual({
    parameters: {
      max_completion_tokens: 9,
      tool_choice: { type: 'function', function: { name: 'look' } },
    },
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    dropped: ['thinking'],
  });
});

it('sets fields of a recorded body, takes away what is null, and leaves the rest in its order', () => {
  const body = bytesOf({ model: 'a', temperature: 1, big: 12345678901234567890n, messages: [] });
  expect(textOf(rewriteRequest(body, { model: 'b', temperature: null, top_p: 1 }))).toBe(
    '{"model":"b","big":12345678901234567890,"messages":[],"top_p":1}',
  );
});
