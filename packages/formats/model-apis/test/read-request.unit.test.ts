import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequest, type ModelApi } from '../src/index.ts';
import { json } from './any-request.ts';
import { bytesOf, readGood } from './read-good.ts';

const tool = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } };

describe('a request of OpenAI chat', () => {
  it('gives model, stream, tools and parameters, and its messages as they stand', () => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Weather in Paris?' }] },
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: {} }] },
      { role: 'tool', tool_call_id: 'call_1', content: '14 °C' },
    ];
    expect(
      readGood('openai.chat', {
        ...{ model: 'gpt-4o', stream: true, stream_options: { include_usage: true }, temperature: 0.2 },
        ...{ tools: [tool], messages, seed: 2n ** 60n },
      }),
    ).toEqual({
      ok: true,
      model: 'gpt-4o',
      stream: true,
      // No record holds an integer that large.
      parameters: { stream_options: { include_usage: true }, temperature: 0.2, seed: 2 ** 60 },
      tools: [tool],
      messages,
      mapping: 'openai.chat@1',
      previous: null,
    });
  });
});

it(
  'what no record may hold is made what it may: large integers floats, half of a pair of surrogates U+FFFD',
  { tags: ['record§1', 'calls§2.7'] },
  () => {
    const body = String.raw`{"messages":[{"role":"user","content":[12345678901234567890,"a\ud83d \\ud83d \ud83d\ude00"]}],"tools":[{"n":9223372036854775807}],"seed":-12345678901234567890}`;
    expect(readRequest('openai.chat', new TextEncoder().encode(body))).toMatchObject({
      messages: [{ role: 'user', content: [12345678901234567890, 'a\ufffd \\ud83d \u{1f600}'] }],
      tools: [{ n: 9223372036854775807 }],
      parameters: { seed: -12345678901234567890 },
    });
  },
);

it(
  'a key that no record may hold has U+FFFD behind it, and nothing else changes',
  { tags: ['calls§2.7'] },
  () => {
    const body = String.raw`{"messages":[{"role":"user","content":"\"constructor\": __proto__ \ud83d"}],"tools":[{"properties":{"constructor" : {"type":"constructor"},"a\"prototype":1}}]}`;
    expect(readRequest('openai.chat', new TextEncoder().encode(body))).toMatchObject({
      messages: [{ role: 'user', content: '"constructor": __proto__ \ufffd' }],
      tools: [{ properties: { 'constructor\ufffd': { type: 'constructor' }, 'a"prototype': 1 } }],
    });
  },
);

describe('a body that cannot be read', () => {
  const text = (value: string) => new TextEncoder().encode(value);
  it.each<[string, ModelApi, Uint8Array, string]>([
    ['is no JSON', 'openai.chat', text('hello'), 'E_INPUT_NOT_JSON'],
    ['ends early', 'openai.chat', text('{"messages":[{"role":"us'), 'E_INPUT_TRUNCATED'],
    ['is empty', 'anthropic.messages', text(''), 'E_INPUT_TRUNCATED'],
    ['is not UTF-8', 'openai.chat', Uint8Array.of(0x7b, 0xff, 0x7d), 'E_INPUT_ENCODING'],
    ['has twin keys', 'openai.chat', text('{"messages":[],"messages":[]}'), 'E_INPUT_REPEATED_KEY'],
    ['is too deep', 'openai.chat', text('['.repeat(100_000)), 'E_INPUT_TOO_DEEP'],
    [
      'has a forbidden key',
      'openai.chat',
      text('{"messages":[{"\\u005f_proto__":1}]}'),
      'E_INPUT_FORBIDDEN_KEY',
    ],
    ['is a list', 'openai.responses', text('[]'), 'E_INPUT_SHAPE'],
    ['has no messages', 'openai.chat', text('{}'), 'E_INPUT_SHAPE'],
    ['has no messages', 'anthropic.messages', text('{"messages":{}}'), 'E_INPUT_SHAPE'],
    ['has an unknown role', 'openai.chat', text('{"messages":[{"role":"bot"}]}'), 'E_ROLE_UNKNOWN'],
    ['has an unknown role', 'anthropic.messages', text('{"messages":[{"role":"tool"}]}'), 'E_ROLE_UNKNOWN'],
    ['has a message that is a text', 'anthropic.messages', text('{"messages":["a"]}'), 'E_INPUT_SHAPE'],
    ['has a number as system', 'anthropic.messages', text('{"messages":[],"system":1}'), 'E_INPUT_SHAPE'],
    ['has a number as input', 'openai.responses', text('{"input":1}'), 'E_INPUT_SHAPE'],
    ['has a list as instructions', 'openai.responses', text('{"instructions":[]}'), 'E_INPUT_SHAPE'],
    ['has a text as tools', 'openai.responses', text('{"tools":"all"}'), 'E_INPUT_SHAPE'],
    ['is of another API', 'other', text('{"messages":[]}'), 'E_INPUT_SHAPE'],
  ])('gives a code and a reason: %s (%s)', (_what, api, bytes, code) => {
    expect(readRequest(api, bytes)).toEqual({ ok: false, code, reason: expect.any(String) });
  });

  it('never throws, whatever it holds', () => {
    const api = fc.constantFrom<ModelApi>('openai.chat', 'openai.responses', 'anthropic.messages', 'other');
    const body = fc.record({ messages: json, input: json, system: json, tools: json }, { requiredKeys: [] });
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.oneof(json, body).map((value) => bytesOf(value)),
    );
    fc.assert(
      fc.property(api, bytes, (one, each) => {
        expect(readRequest(one, each)).not.toMatchObject({ code: 'E_INTERNAL' });
      }),
    );
  });
});
