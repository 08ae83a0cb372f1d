import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { helicone } from '../../src/foreign/helicone.ts';
import { litellm } from '../../src/foreign/litellm.ts';
import { openrouterChat } from '../../src/foreign/openrouter-chat.ts';
import { openrouter } from '../../src/foreign/openrouter.ts';
import type { ForeignReader } from '../../src/foreign/reader.ts';
import { anyCalls, anyValue, chatOf, expectedMessage, type AnyCall } from './any-calls.ts';
import { callsIn, droppedIn, itemsOf, itemsOfLines, plainMessage, warningsIn } from './items-of.ts';

const START = 1_788_000_000_000;
type Row = Record<string, unknown>;
type Log = {
  readonly reader: ForeignReader;
  readonly row: (call: AnyCall, i: number) => Row;
  readonly run: string;
};

const completion = ({ answer, usage }: AnyCall): Row => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'm-1',
  choices: [{ index: 0, message: chatOf(answer), finish_reason: 'stop' }],
  usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
});

const LOGS: Readonly<Record<string, Log>> = {
  helicone: {
    reader: helicone,
    run: 'session-7',
    row: (call, i) => ({
      request_id: `r${i}`,
      request_created_at: new Date(START + 1_000 * i).toISOString(),
      request_path: 'https://gateway.example/v1/chat/completions',
      request_body: { model: 'm-1', messages: call.shown.map(chatOf), temperature: 0.5 },
      response_body: completion(call),
      response_status: 200,
      delay_ms: 250,
      request_properties: { 'Helicone-Session-Id': 'session-7' },
    }),
  },
  litellm: {
    reader: litellm,
    run: 'session-7',
    row: (call, i) => ({
      id: `r${i}`,
      trace_id: 'session-7',
      call_type: 'acompletion',
      status: 'success',
      startTime: (START + 1_000 * i) / 1_000,
      endTime: (START + 1_000 * i + 250) / 1_000,
      model: 'm-1',
      messages: call.shown.map(chatOf),
      response: completion(call),
      model_parameters: { temperature: 0.5 },
      prompt_tokens: call.usage.input,
      completion_tokens: call.usage.output,
    }),
  },
  'litellm, rows of its spend logs': {
    reader: litellm,
    run: 'session-7',
    row: (call, i) => ({
      request_id: `r${i}`,
      session_id: 'session-7',
      call_type: 'acompletion',
      startTime: new Date(START + 1_000 * i).toISOString().replace('T', ' ').replace('Z', ''),
      endTime: new Date(START + 1_000 * i + 250).toISOString(),
      model: 'm-1',
      messages: {},
      proxy_server_request: JSON.stringify({
        model: 'm-1',
        messages: call.shown.map(chatOf),
        temperature: 0.5,
      }),
      response: JSON.stringify(completion(call)),
    }),
  },
  openrouter: {
    reader: openrouter,
    run: 'session-7',
    row: (call, i) => ({
      id: `gen-${i}`,
      session_id: 'session-7',
      created_at: new Date(START + 1_000 * i).toISOString(),
      generation_time: 250,
      model: 'm-1',
      finish_reason: 'stop',
      native_tokens_prompt: call.usage.input,
      native_tokens_completion: call.usage.output,
      input: { messages: call.shown.map(chatOf), temperature: 0.5 },
      output: call.answer.calls.length === 0 ? { completion: call.answer.text } : completion(call),
    }),
  },
};

describe('logs of requests', () => {
  for (const [name, { reader, row, run }] of Object.entries(LOGS)) {
    for (const [layout, valuesOf] of Object.entries({
      lines: (rows: readonly Row[]) => rows,
      'a list': (rows: readonly Row[]) => [rows],
      'a page': (rows: readonly Row[]) => [{ data: rows }],
    }))
      test(`the rows of ${name} on ${layout} are the calls that were made`, async () => {
        await fc.assert(
          fc.asyncProperty(anyCalls, async (calls) => {
            const values = valuesOf(calls.map(row).reverse());
            expect(reader.recognises(JSON.parse(JSON.stringify(values[0])) as never)).toBe(true);
            const found = callsIn(await itemsOf(reader, ...values)).map(
              ({ run: of, request, response, exchange }) => ({
                run: of,
                at: exchange.at,
                durationMs: exchange.end?.durationMs,
                model: request.model,
                parameters: request.parameters,
                shown: request.messages.map(plainMessage),
                answer: response.answer && plainMessage(response.answer),
                finishReason: response.finishReason,
                usage: response.usage && { input: response.usage.input, output: response.usage.output },
                fidelity: exchange.fidelity,
              }),
            );
            expect(found).toStrictEqual(
              calls.map(({ shown, answer, usage }, i) => ({
                ...{ run, at: START + 1_000 * i, durationMs: 250, model: 'm-1' },
                parameters: { temperature: 0.5 },
                shown: shown.map(expectedMessage),
                answer: expectedMessage(answer),
                finishReason: 'stop',
                usage,
                fidelity: 'same',
              })),
            );
          }),
          { numRuns: 20 },
        );
      });

    test(`a row of ${name} that stands twice is one; what is no row is refused; a cut line is named`, async () => {
      const call: AnyCall = {
        shown: [{ role: 'user', text: 'How deep?' }],
        answer: { role: 'assistant', text: '7 m', calls: [] },
        usage: { input: 3, output: 2 },
      };
      const line = JSON.stringify({ ...row(call, 0), of_my_own: 1 });
      const items = await itemsOfLines(reader, [line, line, '{"id": "']);
      expect(callsIn(items)).toHaveLength(1);
      expect(warningsIn(items)).toStrictEqual(['W_LINE_CUT line 3', 'W_REPEATED line 2']);
      expect(droppedIn(items)).toStrictEqual({ 'field of_my_own': 1 });
      await expect(itemsOfLines(reader, [line, 'null'])).rejects.toThrow('line 2 is no row');
      for (const other of Object.values(LOGS))
        if (other.reader !== reader) expect(other.reader.recognises(JSON.parse(line) as never)).toBe(false);
    });

    test(`values of ${name} of other types than they should have cost their fact, and nothing else`, async () => {
      const call: AnyCall = {
        shown: [{ role: 'user', text: 'How deep?' }],
        answer: { role: 'assistant', text: '7 m', calls: [] },
        usage: { input: 3, output: 2 },
      };
      const whole = row(call, 0);
      const needed = ['id', 'request_id', 'call_type', 'model', 'startTime', 'request_path', 'error_str'];
      const names = Object.keys(whole).filter((each) => !needed.includes(each));
      await fc.assert(
        fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), anyValue), async (over) => {
          expect(callsIn(await itemsOf(reader, { ...whole, ...over }))).toHaveLength(1);
        }),
        { numRuns: 200 },
      );
    });
  }

  test('a request that failed says why: Helicone by its answer, LiteLLM by its row', async () => {
    const [first] = callsIn(
      await itemsOf(helicone, {
        ...{ request_id: 'r1', request_body: { model: 'm-1', messages: [] }, response_status: 429 },
        response_body: { error: { type: 'rate_limit', message: 'slow down' } },
      }),
    );
    expect(first?.exchange.end).toMatchObject({
      status: 'failed',
      error: { code: 'rate_limit', message: 'slow down' },
    });
    const [second] = callsIn(
      await itemsOf(litellm, {
        ...{ id: 'r1', call_type: 'completion', startTime: 1, messages: [], status: 'failure' },
        error_information: { error_class: 'RateLimitError', error_message: 'slow down' },
      }),
    );
    expect(second?.exchange.end).toMatchObject({ error: { code: 'RateLimitError', message: 'slow down' } });
  });

  test('rows of embeddings are counted', async () => {
    const items = await itemsOf(
      litellm,
      { id: 'r1', call_type: 'aembedding', startTime: 1, messages: [] },
      { id: 'r2', call_type: 'acompletion', startTime: 1, messages: [] },
    );
    expect(callsIn(items)).toHaveLength(1);
    expect(droppedIn(items)).toStrictEqual({ 'row of call type aembedding': 1 });
  });
});

describe('chats of OpenRouter’s page', () => {
  const item = (text: string, role: string) => ({ data: { role, content: [{ type: 'input_text', text }] } });
  const chat = {
    version: 'orpg.3.0',
    title: 'Depth',
    characters: { a: { model: 'x/m-1' }, b: { model: 'y/m-2' } },
    messages: {
      m1: { characterId: 'USER', type: 'user', createdAt: '2026-09-01T10:00:00.000Z', items: [{ id: 'i1' }] },
      m3: {
        characterId: 'b',
        parentMessageId: 'm1',
        createdAt: '2026-09-01T10:00:03Z',
        items: [{ id: 'i3' }],
      },
      m2: {
        characterId: 'a',
        parentMessageId: 'm1',
        createdAt: '2026-09-01T10:00:02Z',
        items: [{ id: 'r2' }, { id: 'i2' }],
      },
    },
    items: {
      i1: item('How deep?', 'user'),
      r2: { data: { type: 'reasoning', summary: [{ type: 'summary_text', text: 'A lake.' }] } },
      i2: item('7 m', 'assistant'),
      i3: item('8 m', 'assistant'),
    },
  };

  test('each answer is a call; the answers of two models to one message are branches', async () => {
    expect(openrouterChat.recognises(chat)).toBe(true);
    expect(openrouter.recognises(chat)).toBe(false);
    const missing = ['system prompt', 'parameters', 'usage'];
    expect(await itemsOf(openrouterChat, chat)).toStrictEqual([
      { kind: 'conversation', key: null, version: 'orpg.3.0', title: 'Depth' },
      {
        ...{ kind: 'message', id: 'm1', at: Date.UTC(2026, 8, 1, 10), role: 'user' },
        messages: [{ role: 'user', content: 'How deep?' }],
      },
      {
        ...{ kind: 'call', id: 'm2', at: Date.UTC(2026, 8, 1, 10, 0, 2), after: 'm1', model: 'x/m-1' },
        answer: { role: 'assistant', content: '7 m', reasoning: 'A lake.' },
        missing,
      },
      {
        ...{ kind: 'call', id: 'm3', at: Date.UTC(2026, 8, 1, 10, 0, 3), after: 'm1', model: 'y/m-2' },
        answer: { role: 'assistant', content: '8 m' },
        missing,
      },
    ]);
  });

  test('values of other types than they should have give no error', async () => {
    const value = anyValue;
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('m1', 'm2'), value),
        value,
        async (messages, characters) => {
          await itemsOf(openrouterChat, { ...chat, messages, characters });
        },
      ),
      { numRuns: 200 },
    );
  });
});
