import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { langfuse } from '../../src/foreign/langfuse.ts';
import { anyCalls, anyValue, chatOf, expectedMessage, type AnyCall } from './any-calls.ts';
import { callsIn, droppedIn, itemsOf, itemsOfLines, plainMessage, warningsIn } from './items-of.ts';

const START = 1_788_000_000_000;
const at = (i: number): string => new Date(START + 1_000 * i).toISOString();

const observation = ({ shown, answer, usage }: AnyCall, i: number): Record<string, unknown> => ({
  id: `o${i}`,
  traceId: 't1',
  type: 'GENERATION',
  name: 'chat',
  startTime: at(i),
  endTime: new Date(START + 1_000 * i + 250).toISOString(),
  completionStartTime: new Date(START + 1_000 * i + 100).toISOString(),
  model: 'm-1',
  modelParameters: { temperature: 0.5 },
  input: shown.map(chatOf),
  output: chatOf(answer),
  usageDetails: { input: usage.input, output: usage.output, total: usage.input + usage.output },
  level: 'DEFAULT',
  statusMessage: null,
  parentObservationId: 's1',
});

const span = {
  id: 's1',
  traceId: 't1',
  type: 'SPAN',
  name: 'agent',
  startTime: at(0),
  input: 'x',
  output: 'y',
};
const trace = { id: 't1', name: 'Depth', sessionId: 'session-7', timestamp: at(0) };

const snake = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === 'input' || name === 'output' ? JSON.stringify(item) : item,
    ]),
  );

/** Every layout: the values of a file, one a line, and the conversation that its calls are of. */
const LAYOUTS: Readonly<
  Record<string, (calls: readonly AnyCall[]) => readonly [readonly unknown[], string]>
> = {
  'a list': (calls) => [[[span, ...calls.map(observation)]], 't1'],
  lines: (calls) => [[span, ...calls.map(observation)], 't1'],
  'lines with the session': (calls) => [
    calls.map((call, i) => ({ ...observation(call, i), sessionId: 'session-7' })),
    'session-7',
  ],
  'a page of the API': (calls) => [[{ data: [span, ...calls.map(observation)], meta: { page: 1 } }], 't1'],
  'a trace with its observations': (calls) => [
    [{ ...trace, observations: [span, ...calls.map(observation)] }],
    'session-7',
  ],
  'a trace beside its observations': (calls) => [
    [{ trace, observations: [...calls.map(observation)].reverse() }],
    'session-7',
  ],
  'an export to files': (calls) => [calls.map((call, i) => snake(observation(call, i))), 't1'],
  'usage as promptTokens': (calls) => [
    calls.map((call, i) => ({
      ...observation(call, i),
      usageDetails: undefined,
      promptTokens: call.usage.input,
      completionTokens: call.usage.output,
    })),
    't1',
  ],
  'batches of the ingestion': (calls) => [
    [
      { batch: [{ id: 'e0', type: 'trace-create', timestamp: at(0), body: trace }] },
      ...calls.map((call, i) => {
        const { output, usageDetails, endTime, ...begun } = observation(call, i);
        return {
          batch: [
            { id: `e${i}u`, type: 'generation-update', body: { id: `o${i}`, output, usageDetails, endTime } },
            { id: `e${i}c`, type: 'generation-create', body: { ...begun, type: undefined } },
          ],
        };
      }),
    ],
    'session-7',
  ],
};

const found = (items: Awaited<ReturnType<typeof itemsOf>>) =>
  callsIn(items).map(({ run, request, response, exchange }) => ({
    run,
    at: exchange.at,
    durationMs: exchange.end?.durationMs,
    firstByteMs: exchange.end?.firstByteMs,
    model: request.model,
    parameters: request.parameters,
    shown: request.messages.map(plainMessage),
    answer: response.answer && plainMessage(response.answer),
    usage: response.usage && { input: response.usage.input, output: response.usage.output },
    fidelity: exchange.fidelity,
  }));

describe('exports of Langfuse', () => {
  for (const [name, layout] of Object.entries(LAYOUTS))
    test(`the generations in ${name} are the calls that were made`, async () => {
      await fc.assert(
        fc.asyncProperty(anyCalls, async (calls) => {
          const [values, run] = layout(calls);
          expect(langfuse.recognises(JSON.parse(JSON.stringify(values[0])) as never)).toBe(true);
          const items = await itemsOf(langfuse, ...values);
          expect(found(items)).toStrictEqual(
            calls.map(({ shown, answer, usage }, i) => ({
              ...{ run, at: START + 1_000 * i, durationMs: 250, firstByteMs: 100, model: 'm-1' },
              parameters: { temperature: 0.5 },
              shown: shown.map(expectedMessage),
              answer: expectedMessage(answer),
              usage,
              fidelity: 'same',
            })),
          );
        }),
        { numRuns: 30 },
      );
    });

  const generation = (over: Record<string, unknown>) => ({
    ...{ id: 'o1', traceId: 't1', type: 'GENERATION', startTime: at(0), model: 'm-1' },
    ...{ input: [{ role: 'user', content: 'How deep?' }], output: { role: 'assistant', content: '7 m' } },
    usageDetails: { input: 3, output: 2 },
    ...over,
  });

  test('an input that is a text is put together; one that is none is missing', async () => {
    const [text, none] = callsIn(
      await itemsOf(
        langfuse,
        generation({ input: 'How deep?' }),
        generation({ id: 'o2', input: null, output: null, usageDetails: {} }),
      ),
    );
    expect(text?.request.messages).toStrictEqual([{ role: 'user', content: 'How deep?' }]);
    expect(text?.exchange.fidelity).toBe('reconstructed');
    expect(none?.exchange.missing).toStrictEqual(['messages', 'answer', 'usage']);
  });

  test('requests and answers of APIs are read as these have them', async () => {
    const [anthropic, chat] = callsIn(
      await itemsOf(
        langfuse,
        generation({
          input: {
            system: 'You help.',
            messages: [
              { role: 'user', content: 'How deep?' },
              {
                role: 'assistant',
                content: [{ type: 'tool_use', id: 'c1', name: 'depth', input: { at: 'pier' } }],
              },
              { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '7 m' }] },
            ],
          },
          output: {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'text', text: '7 m' }],
            stop_reason: 'end_turn',
          },
        }),
        generation({
          id: 'o2',
          startTime: at(1),
          input: { tools: [{ type: 'function' }], messages: [{ role: 'user', content: 'How deep?' }] },
          output: { choices: [{ message: { role: 'assistant', content: '7 m', tool_calls: null } }] },
        }),
      ),
    );
    expect(anthropic?.request.messages.map(({ role }) => role)).toStrictEqual([
      ...['system', 'user', 'assistant', 'tool'],
    ]);
    expect(anthropic?.response.finishReason).toBe('end_turn');
    expect(chat?.request.tools).toStrictEqual([{ type: 'function' }]);
    expect(chat?.response.answer).toStrictEqual({ role: 'assistant', content: '7 m' });
  });

  test('tools that LangChain’s handler lists among the messages are tools', async () => {
    const tool = { type: 'function', function: { name: 'depth' } };
    const [call] = callsIn(
      await itemsOf(
        langfuse,
        generation({
          input: [
            { role: 'user', content: 'How deep?' },
            { role: 'tool', content: tool },
          ],
        }),
      ),
    );
    expect(call?.request.messages).toHaveLength(1);
    expect(call?.request.tools).toStrictEqual([tool]);
  });

  test('an observation of level ERROR failed', async () => {
    const [call] = callsIn(
      await itemsOf(langfuse, generation({ level: 'ERROR', statusMessage: 'Rate limit', output: null })),
    );
    expect(call?.exchange.end).toMatchObject({ status: 'failed', error: { message: 'Rate limit' } });
    expect(call?.exchange.missing).toBeUndefined();
  });

  test('what is read nowhere is counted; what stands twice is one', async () => {
    const items = await itemsOf(
      langfuse,
      generation({ costDetails: { total: 1 }, promptId: null }),
      generation({}),
      { ...span, id: 's2' },
    );
    expect(callsIn(items)).toHaveLength(1);
    expect(warningsIn(items)).toStrictEqual(['W_REPEATED line 2']);
    expect(droppedIn(items)).toStrictEqual({ 'field costDetails': 1, 'observation of type SPAN': 1 });
  });

  test('a request of the Responses API, and runs of LangSmith, are none of Langfuse’s', () => {
    for (const value of [
      { model: 'm-1', input: [{ role: 'user', content: 'Hi' }], output: [] },
      { id: 'r1', trace_id: 't1', run_type: 'llm', inputs: {}, outputs: {} },
      [{ role: 'user', content: 'Hi' }],
      null,
    ])
      expect(langfuse.recognises(value)).toBe(false);
  });

  test('what is no observation is refused with its place; a last line that is cut is named', async () => {
    await expect(itemsOf(langfuse, generation({}), null)).rejects.toThrow('line 2 is no observation');
    const items = await itemsOfLines(langfuse, [JSON.stringify(generation({})), '{"id": "o2", "ty']);
    expect(warningsIn(items)).toStrictEqual(['W_LINE_CUT line 2']);
  });

  test('values of other types than they should have cost their fact, and nothing else', async () => {
    const names = ['input', 'output', 'usageDetails', 'modelParameters', 'model', 'startTime', 'level'];
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), anyValue), async (over) => {
        expect(callsIn(await itemsOf(langfuse, { ...generation({}), sessionId: 's', ...over }))).toHaveLength(
          1,
        );
      }),
      { numRuns: 300 },
    );
  });
});
