import type { WideJson } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inspect } from '../../src/foreign/inspect/reader.ts';
import type { ForeignSaidAnswer } from '../../src/foreign/item.ts';
import { shortHash } from '../../src/foreign/short-hash.ts';
import { exchangesIn, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const EVAL = {
  task: 'harbour',
  model: 'openai/gpt-x',
  created: '2026-09-01T10:00:00+00:00',
  packages: { inspect_ai: '0.3.135' },
};
/** The hash of the evaluation. */
const LOG = shortHash(EVAL);
const log = (samples: readonly object[], more: object = {}): string =>
  JSON.stringify({ version: 2, status: 'success', eval: EVAL, plan: {}, samples, ...more });

const TOOL = {
  name: 'depth',
  description: 'The depth.',
  parameters: { type: 'object', properties: { at: { type: 'string' } } },
};
const call = (more: object = {}): object => ({
  event: 'model',
  timestamp: '2026-09-01T10:00:00.250Z',
  completed: '2026-09-01T10:00:01.000Z',
  model: 'openai/gpt-x',
  input: [{ id: 'm1', role: 'user', content: 'How deep?', source: 'input' }],
  tools: [TOOL],
  tool_choice: 'auto',
  config: { temperature: 0, max_tokens: null },
  output: {
    model: 'gpt-x-2026',
    choices: [{ message: { role: 'assistant', content: '7 m' }, stop_reason: 'stop' }],
    usage: { input_tokens: 10, output_tokens: 3, total_tokens: 13 },
  },
  ...more,
});
const sample = (id: number | string, events: readonly object[], more: object = {}): object => ({
  ...{ id, epoch: 1, input: 'How deep?', target: '7', messages: [], events, attachments: {} },
  ...more,
});
const saidIn = async (text: string) =>
  exchangesIn(await itemsOf(inspect, text)).map(({ request, end }) => {
    const response = end?.response as ForeignSaidAnswer | null;
    if (request.form !== 'said') throw new Error('it is not said');
    return { request, response, end };
  });

describe('a log of Inspect', () => {
  test('has a conversation for each sample, and a call for each event of a model', async () => {
    const items = await itemsOf(inspect, log([sample(1, [call()]), sample('two', [call(), call()])]));
    expect(items.filter(({ kind }) => kind === 'conversation')).toEqual([
      { kind: 'conversation', key: `1_epoch_1 of ${LOG}`, title: 'harbour, sample 1', version: '0.3.135' },
      {
        kind: 'conversation',
        key: `two_epoch_1 of ${LOG}`,
        title: 'harbour, sample two',
        version: '0.3.135',
      },
    ]);
    const [first, ...rest] = exchangesIn(items);
    expect(rest.map(({ id }) => id)).toEqual(['two_epoch_1 call 1', 'two_epoch_1 call 2']);
    expect(first).toEqual({
      kind: 'exchange',
      id: '1_epoch_1 call 1',
      at: Date.parse('2026-09-01T10:00:00.250Z'),
      request: {
        form: 'said',
        model: 'openai/gpt-x',
        messages: [{ role: 'user', content: 'How deep?' }],
        parameters: { temperature: 0, tool_choice: 'auto' },
        tools: [{ type: 'function', function: TOOL }],
      },
      end: {
        status: 'answered',
        durationMs: 750,
        error: null,
        response: {
          form: 'said',
          answer: { role: 'assistant', content: '7 m' },
          finishReason: 'stop',
          model: 'gpt-x-2026',
          usage: { input: 10, output: 3, cached: null, cacheWrite: null, reasoning: null },
        },
      },
      fidelity: 'same',
      missing: [],
    });
    expect(namedIn(items)).toMatchObject({ 'message id': 3, 'message source': 3 });
  });

  test('has tools, thoughts and images as the chat API has them', async () => {
    const image = 'data:image/png;base64,iVBORw0KGgo=';
    const input = [
      { role: 'system', content: 'You help.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image', image, detail: 'auto' },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'reasoning', reasoning: 'Deep.', signature: 's', redacted: false }],
        tool_calls: [{ id: 'c1', function: 'depth', arguments: { at: 'pier', n: 1 }, type: 'function' }],
      },
      {
        role: 'tool',
        content: '',
        tool_call_id: 'c1',
        function: 'depth',
        error: { type: 'timeout', message: 'too slow' },
      },
    ];
    const [said] = await saidIn(log([sample(1, [call({ input })])]));
    expect(said?.request.messages).toEqual([
      { role: 'system', content: 'You help.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: image } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'Deep.', signature: 's' }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"at":"pier","n":1}' } },
        ],
      },
      {
        ...{ role: 'tool', content: 'too slow', tool_call_id: 'c1', name: 'depth', is_error: true },
        error: { type: 'timeout', message: 'too slow' },
      },
    ]);
  });

  test('has the texts of attachments where they are referred to, in all forms', async () => {
    const input = [{ role: 'user', content: 'attachment://a1' }];
    const [now] = await saidIn(log([sample(1, [call({ input })], { attachments: { a1: 'Long.' } })]));
    expect(now?.request.messages).toEqual([{ role: 'user', content: 'Long.' }]);
    const old = {
      ...{ id: 1, epoch: 1, input: '', target: '', messages: [] },
      transcript: {
        events: [call({ input: [{ role: 'user', content: 'tc://a1' }] })],
        content: { a1: 'Old.' },
      },
    };
    const [first] = await saidIn(log([old]));
    expect(first?.request.messages).toEqual([{ role: 'user', content: 'Old.' }]);
    const items = await itemsOf(inspect, log([sample(1, [call({ input })])]));
    expect(namedIn(items)['W_CONTENT_LOST']).toBe(1);
  });

  test.each([
    ['message_pool', (messages: readonly object[]) => ({ message_pool: messages })],
    ['events_data', (messages: readonly object[]) => ({ events_data: { messages, calls: [] } })],
  ])('of version 3 has its messages in a pool (%s)', async (_name, pool) => {
    const messages = ['one', 'two', 'three'].map((content) => ({ role: 'user', content }));
    const input_refs = [
      [0, 1],
      [2, 3],
    ];
    const text = log([sample(1, [call({ input: [], input_refs })], pool(messages))], { version: 3 });
    const [said] = await saidIn(text);
    expect(said?.request.messages.map(({ content }) => content)).toEqual(['one', 'three']);
    await expect(
      itemsOf(inspect, log([sample(1, [call({ input_refs: [[0, 9]] })], pool(messages))])),
    ).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
  });

  test('tells failed, cancelled and waiting calls from answered ones', async () => {
    const none = { model: 'm', choices: [] };
    const events = [
      call({ error: 'Rate limited', output: none }),
      call({ error: 'Cancelled by operator', output: none }),
      call({ pending: true, output: none }),
      call({ output: none }),
    ];
    const ends = (await saidIn(log([sample(1, events)]))).map(
      ({ end }) => end && [end.status, end.error?.message],
    );
    expect(ends).toEqual([
      ['failed', 'Rate limited'],
      ['cancelled', 'Cancelled by operator'],
      null,
      ['unknown', undefined],
    ]);
  });

  test('counts what a cache served as input, whether the log leaves it out or has it', async () => {
    const usageOf = async (usage: object) => {
      const output = { model: 'm', choices: [{ message: { role: 'assistant', content: 'x' } }], usage };
      const items = await itemsOf(inspect, log([sample(1, [call({ output })])]));
      const [exchange] = exchangesIn(items);
      return [(exchange?.end?.response as ForeignSaidAnswer).usage, namedIn(items)['W_USAGE_DOUBTFUL']];
    };
    const usage = { input: 100, output: 5, cached: 90, cacheWrite: null, reasoning: 2 };
    const told = { output_tokens: 5, input_tokens_cache_read: 90, reasoning_tokens: 2 };
    expect(await usageOf({ input_tokens: 10, ...told, total_tokens: 105 })).toEqual([usage, undefined]);
    expect(await usageOf({ input_tokens: 100, ...told, total_tokens: 105 })).toEqual([usage, undefined]);
    expect((await usageOf({ input_tokens: 10, ...told, total_tokens: 7 }))[1]).toBe(1);
  });

  test('without events is its messages, of which the answers of the model are calls', async () => {
    const messages = [
      { role: 'user', content: 'How deep?' },
      { role: 'assistant', content: '7 m', model: 'gpt-y' },
    ];
    const items = await itemsOf(
      inspect,
      log([sample(1, [], { messages, started_at: '2026-09-01T10:00:00Z' })]),
    );
    expect(messagesIn(items).map(({ role, at }) => [role, at])).toEqual([
      ['user', Date.parse('2026-09-01T10:00:00Z')],
    ]);
    expect(items.filter(({ kind }) => kind === 'call')).toEqual([
      {
        ...{ kind: 'call', model: 'gpt-y', answer: { role: 'assistant', content: '7 m' } },
        missing: ['tools', 'parameters', 'usage'],
      },
    ]);
  });

  test('that was cancelled, and has no samples, is read', async () => {
    const items = await itemsOf(inspect, log([], { status: 'cancelled', samples: null }));
    expect(items).toEqual([{ kind: 'count', what: 'aborted' }]);
  });

  test('gives calls, answers, results and tokens as they were made', async () => {
    const turn = fc.record({
      said: fc.string({ maxLength: 30 }),
      result: fc.string({ maxLength: 30 }),
      input: fc.nat(100_000),
      output: fc.nat(100_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(turn, { maxLength: 5 }), { maxLength: 4 }), async (samples) => {
        const text = log(
          samples.map((turns, id) => {
            const input: object[] = [{ role: 'user', content: `Task ${id}` }];
            const events = turns.map(({ said, result, ...tokens }, i) => {
              const tool_calls = [{ id: `c${i}`, function: 'depth', arguments: { said } }];
              const message = { role: 'assistant', content: said, tool_calls };
              const event = call({
                input: [...input],
                output: {
                  choices: [{ message, stop_reason: 'tool_calls' }],
                  usage: { input_tokens: tokens.input, output_tokens: tokens.output },
                },
              });
              input.push(message, { role: 'tool', content: result, tool_call_id: `c${i}` });
              return event;
            });
            return sample(id, events, { messages: input });
          }),
        );
        const found = await saidIn(text);
        const expected = samples.flatMap((turns) =>
          turns.map(({ said, input, output }, i) => ({
            answer: {
              role: 'assistant',
              content: said,
              tool_calls: [
                {
                  id: `c${i}`,
                  type: 'function',
                  function: { name: 'depth', arguments: JSON.stringify({ said }) },
                },
              ],
            },
            results: turns.slice(0, i).map(({ result }) => result),
            tokens: [input, output],
          })),
        );
        expect(
          found.map(({ request, response }) => ({
            answer: response?.answer,
            results: request.messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
            tokens: [response?.usage?.input, response?.usage?.output],
          })),
        ).toEqual(expected);
      }),
    );
  });

  test('with anything in the place of anything gives items or a coded error', async () => {
    const damaged = sample(1, [call(), call({ input_refs: [[0, 1]] })], {
      message_pool: [{ role: 'user', content: 'attachment://a1' }],
      attachments: { a1: 'x' },
    });
    await survivesDamage(inspect, [JSON.parse(log([damaged])) as WideJson]);
  });

  test('whose attachments expand without end is refused', async () => {
    const attachments = { a1: 'x'.repeat(2 ** 20) };
    const input = Array.from({ length: 300 }, () => ({ role: 'user', content: 'attachment://a1' }));
    await expect(
      itemsOf(inspect, log([sample(1, [call({ input })], { attachments })])),
    ).rejects.toMatchObject({
      code: 'E_INPUT_TOO_LARGE',
    });
  });
});
