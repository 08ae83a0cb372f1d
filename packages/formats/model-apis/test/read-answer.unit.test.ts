import type { WideJson, WideJsonObject } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer, type ModelApi } from '../src/index.ts';
import { json } from './any-request.ts';
import { bytesOf } from './read-good.ts';

const ok = { status: 200, contentType: 'application/json' };
const read = (api: ModelApi, body: WideJson, status = 200) =>
  readAnswer(api, { ...ok, status }, bytesOf(body));
const readText = (api: ModelApi, text: string, status = 200) =>
  readAnswer(api, { ...ok, status }, new TextEncoder().encode(text));
const nothing = { answer: null, finishReason: null, model: null, id: null, usage: null, error: null };

describe('an answer of OpenAI chat', () => {
  it('gives its first message and those of its other choices, why it ended, and the tokens', () => {
    const message = { role: 'assistant', content: 'Hi.', refusal: null, annotations: [] };
    const body = {
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1741569952, model: 'gpt-4.1-2025-04-14' },
      choices: [
        { index: 1, message: { role: 'assistant', content: 'Other.' }, finish_reason: 'length' },
        { index: 0, message, logprobs: null, finish_reason: 'stop' },
      ],
      usage: {
        ...{ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
        prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    };
    expect(read('openai.chat', body)).toEqual({
      answer: message,
      others: [{ role: 'assistant', content: 'Other.' }],
      finishReason: 'stop',
      model: 'gpt-4.1-2025-04-14',
      id: 'chatcmpl-1',
      usage: { input: 19, output: 10, cached: 8, cacheWrite: null, reasoning: 4 },
      error: null,
      ...{ complete: true, pending: false },
    });
  });

  it('that is an error gives its code and its message', () => {
    const error = {
      message: 'Rate limit reached',
      type: 'requests',
      param: null,
      code: 'rate_limit_exceeded',
    };
    expect(read('openai.chat', { error }, 429)).toEqual({
      ...nothing,
      error: { code: 'rate_limit_exceeded', message: 'Rate limit reached' },
      ...{ complete: true, pending: false },
    });
  });
});

describe('an answer of OpenAI responses', () => {
  const reasoning = { id: 'rs_1', type: 'reasoning', summary: [] };
  const call = {
    ...{ type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed' },
    ...{ name: 'get_weather', arguments: '{"city":"Paris"}' },
  };
  const usage = {
    ...{ input_tokens: 81, output_tokens: 1035, total_tokens: 1116 },
    input_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
    output_tokens_details: { reasoning_tokens: 832 },
  };
  const body = { id: 'resp_1', object: 'response', status: 'completed', error: null, model: 'gpt-5', usage };

  it('gives its items as one message', () => {
    expect(read('openai.responses', { ...body, output: [reasoning, call] })).toEqual({
      answer: {
        role: 'assistant',
        content: [reasoning],
        tool_calls: [
          {
            ...{ id: 'call_1', type: 'function', item: { id: 'fc_1', status: 'completed' } },
            function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
          },
        ],
        items: ['part', 'call'],
      },
      finishReason: 'completed',
      model: 'gpt-5',
      id: 'resp_1',
      usage: { input: 81, output: 1035, cached: 3, cacheWrite: 2, reasoning: 832 },
      error: null,
      ...{ complete: true, pending: false },
    });
  });

  it('says why it is incomplete, why it failed, and that it still runs', () => {
    const incomplete = {
      ...{ ...body, status: 'incomplete', output: [] },
      incomplete_details: { reason: 'max_output_tokens' },
    };
    expect(read('openai.responses', incomplete)).toMatchObject({
      finishReason: 'max_output_tokens',
      ...{ complete: true, pending: false },
    });
    const failed = { ...body, status: 'failed', error: { code: 'server_error', message: 'It broke.' } };
    expect(read('openai.responses', failed)).toMatchObject({
      ...{ answer: null, finishReason: 'failed', complete: true },
      error: { code: 'server_error', message: 'It broke.' },
    });
    expect(read('openai.responses', { ...body, status: 'queued', output: [] })).toMatchObject({
      ...{ answer: null, error: null, complete: false },
    });
  });
});

describe('an answer of Anthropic messages', () => {
  it('gives its blocks as one message; its input includes what the cache held', () => {
    const thinking = { type: 'thinking', thinking: 'A city.', signature: 'EqQB' };
    const content = [
      thinking,
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
    ];
    const usage = {
      ...{ input_tokens: 10, cache_creation_input_tokens: 200, cache_read_input_tokens: 3000 },
      ...{ output_tokens: 50, output_tokens_details: { thinking_tokens: 20 } },
    };
    const body = {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content },
      ...{ stop_reason: 'tool_use', stop_sequence: null, usage },
    };
    expect(read('anthropic.messages', body)).toEqual({
      answer: {
        role: 'assistant',
        content: [thinking, { type: 'text', text: 'I look.' }],
        tool_calls: [
          {
            id: 'toolu_1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
          },
        ],
      },
      finishReason: 'tool_use',
      model: 'claude-sonnet-4-5',
      id: 'msg_1',
      usage: { input: 3210, output: 50, cached: 3000, cacheWrite: 200, reasoning: 20 },
      error: null,
      ...{ complete: true, pending: false },
    });
  });

  it('says which of its tokens are written to a cache for an hour', () => {
    const usageOf = (usage: WideJsonObject) => read('anthropic.messages', { content: [], usage }).usage;
    const written = { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 253 };
    const rest = { output: null, cached: null, reasoning: null };
    const tokens = { ...rest, input: 1258, cacheWrite: 1253, cacheWrite1h: 253 };
    expect(usageOf({ input_tokens: 5, cache_creation_input_tokens: 1253, cache_creation: written })).toEqual(
      tokens,
    );
    expect(usageOf({ input_tokens: 5, cache_creation: written })).toEqual(tokens);
    expect(usageOf({ input_tokens: 5, cache_creation: null })).toEqual({
      ...{ ...rest, input: 5, cacheWrite: null },
    });
  });

  it('that is an error gives its type and its message', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    expect(read('anthropic.messages', { type: 'error', error, request_id: 'req_1' }, 529)).toEqual({
      ...nothing,
      error: { code: 'overloaded_error', message: 'Overloaded' },
      ...{ complete: true, pending: false },
    });
  });
});

describe('an answer that is not what its API gives', () => {
  const apis = ['openai.chat', 'openai.responses', 'anthropic.messages'] as const;

  it.each(apis)('is an error of at most 500 characters: %s', (api) => {
    const page = readText(api, `<html>${'x'.repeat(2_000)}</html>`, 502);
    expect(page).toEqual({
      ...{ ...nothing, complete: true, pending: false },
      error: { code: null, message: expect.stringMatching(/^HTTP 502 <html>x+…$/) },
    });
    expect(page.error?.message.length).toBe(500);
    expect(readText(api, '', 500).error).toEqual({ code: null, message: 'HTTP 500 ' });
    expect(read(api, {}, 400).error).toEqual({ code: null, message: 'HTTP 400' });
    const events = { status: 503, contentType: 'text/event-stream' };
    expect(readAnswer(api, events, new Uint8Array()).error).toEqual({ code: null, message: 'HTTP 503' });
    expect(read(api, { error: 'model not found' }, 404).error?.message).toBe('model not found');
  });

  it.each(apis)('has the code of what is wrong with the body: %s', (api) => {
    const bad = (text: string, code: string) => {
      expect(readText(api, text)).toEqual({
        ...nothing,
        error: { code, message: expect.any(String) },
        ...{ complete: false, pending: false },
      });
    };
    bad('{"id":"1","choices":[{"mess', 'E_INPUT_TRUNCATED');
    bad('garbage', 'E_INPUT_NOT_JSON');
    bad('[]', 'E_INPUT_SHAPE');
    bad('{"a":1,"a":2}', 'E_INPUT_REPEATED_KEY');
    expect(readAnswer(api, ok, Uint8Array.of(0x7b, 0xc3)).error?.code).toBe('E_INPUT_ENCODING');
  });

  it('has a message that can be recorded, whatever it holds', () => {
    const message = { content: [12345678901234567890n] };
    expect(read('openai.chat', { id: 'a', choices: [{ message }] })).toMatchObject({
      ...{ answer: { content: [12345678901234567890] }, id: 'a', error: null },
    });
  });

  it('of another API is not read', () => {
    expect(read('other', {})).toMatchObject({
      answer: null,
      error: { code: 'E_INPUT_SHAPE' },
      ...{ complete: false, pending: false },
    });
  });

  it('never throws, whatever it holds', () => {
    const api = fc.constantFrom<ModelApi>(...apis, 'other');
    const fields = { choices: json, output: json, content: json, usage: json, error: json, status: json };
    const choice = fc.record({ choices: fc.array(fc.record({ message: json, finish_reason: json })) });
    const body = fc.oneof(json, fc.record(fields, { requiredKeys: [] }), choice);
    const bytes = fc.oneof(
      fc.uint8Array(),
      body.map((value) => bytesOf(value)),
    );
    fc.assert(
      fc.property(api, fc.constantFrom(200, 400, 500), bytes, (one, status, each) => {
        const answer = readAnswer(one, { status, contentType: null }, each);
        expect(answer.answer === null || answer.answer['role'] === 'assistant').toBe(true);
        expect(answer.error?.code).not.toBe('E_INTERNAL');
        expect(answer.error?.message.length ?? 0).toBeLessThanOrEqual(500);
      }),
    );
  });
});
