import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { langsmith } from '../../src/foreign/langsmith.ts';
import { anyCalls, anyValue, chatOf, expectedMessage, type AnyCall, type AnyMessage } from './any-calls.ts';
import { callsIn, droppedIn, itemsOf, itemsOfLines, plainMessage, warningsIn } from './items-of.ts';

const START = 1_788_000_000_000;
const TRACE = '00000000-0000-4000-8000-000000000000';
const idOf = (i: number): string => `00000000-0000-4000-8000-00000000001${i}`;

const CLASSES = {
  system: 'SystemMessage',
  user: 'HumanMessage',
  assistant: 'AIMessage',
  tool: 'ToolMessage',
};
const TYPES = { system: 'system', user: 'human', assistant: 'ai', tool: 'tool' };

/** The fields of a message of LangChain. */
const fields = (message: AnyMessage, more: object = {}): object => ({
  content: message.text,
  type: TYPES[message.role],
  ...(message.role === 'tool' && { tool_call_id: message.answers }),
  ...(message.role === 'assistant' &&
    message.calls.length > 0 && {
      tool_calls: message.calls.map(({ id, name, input }) => ({ id, name, args: input, type: 'tool_call' })),
    }),
  ...more,
});

const dumped = (message: AnyMessage, more: object = {}): object => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', CLASSES[message.role]],
  kwargs: fields(message, more),
});

/** Every form of inputs and outputs. */
const FORMS: Readonly<Record<string, (call: AnyCall) => { inputs: object; outputs: object }>> = {
  'dumps of LangChain': ({ shown, answer, usage }) => ({
    inputs: { messages: [shown.map((message) => dumped(message))] },
    outputs: {
      generations: [
        [
          {
            text: answer.text,
            generation_info: { finish_reason: 'stop' },
            message: dumped(answer, {
              usage_metadata: { input_tokens: usage.input, output_tokens: usage.output },
            }),
          },
        ],
      ],
      llm_output: { model_name: 'm-1' },
    },
  }),
  'messages_to_dict of LangChain': ({ shown, answer, usage }) => ({
    inputs: { messages: shown.map((message) => ({ type: TYPES[message.role], data: fields(message) })) },
    outputs: {
      generations: [[{ text: answer.text, message: { type: 'ai', data: fields(answer) } }]],
      llm_output: {
        model_name: 'm-1',
        token_usage: { prompt_tokens: usage.input, completion_tokens: usage.output },
      },
    },
  }),
  'fields of LangChain': ({ shown, answer, usage }) => ({
    inputs: { messages: shown.map((message) => fields(message)) },
    outputs: {
      output: fields(answer, { usage_metadata: { input_tokens: usage.input, output_tokens: usage.output } }),
    },
  }),
  'requests of OpenAI': ({ shown, answer, usage }) => ({
    inputs: { messages: shown.map(chatOf), model: 'm-1', stream: false, extra_body: null },
    outputs: {
      object: 'chat.completion',
      model: 'm-1',
      choices: [{ index: 0, message: chatOf(answer), finish_reason: 'stop' }],
      usage_metadata: { input_tokens: usage.input, output_tokens: usage.output },
    },
  }),
};

type Run = Record<string, unknown>;

const runsOf = (calls: readonly AnyCall[], form: (call: AnyCall) => object): readonly Run[] =>
  calls.map((call, i) => ({
    id: idOf(i),
    name: 'ChatModel',
    run_type: 'llm',
    start_time: new Date(START + 1_000 * i).toISOString().replace('Z', '000'),
    end_time: new Date(START + 1_000 * i + 250).toISOString().replace('Z', '000'),
    trace_id: TRACE,
    dotted_order: `20260901T100000000000Z${TRACE}.20260901T10000000000${i}Z${idOf(i)}`,
    extra: {
      invocation_params: { model: 'm-1', _type: 'openai-chat', temperature: 0.5 },
      metadata: { thread_id: 'thread-7' },
    },
    error: null,
    ...form(call),
  }));

const root = {
  id: TRACE,
  run_type: 'chain',
  name: 'agent',
  trace_id: TRACE,
  inputs: { input: 'x' },
  outputs: {},
};

const LAYOUTS: Readonly<Record<string, (runs: readonly Run[]) => readonly unknown[]>> = {
  'a list': (runs) => [[root, ...runs]],
  lines: (runs) => [...runs].reverse(),
  'a page of the API': (runs) => [{ runs: [root, ...runs], cursors: {} }],
  'a trace': (runs) => [{ ...root, child_runs: runs }],
  'batches, the end first': (runs) => [
    { post: [root], patch: [] },
    ...runs.flatMap(({ outputs, end_time, ...begun }) => [
      { patch: [{ dotted_order: begun['dotted_order'], trace_id: TRACE, outputs, end_time }] },
      { post: [{ ...begun, outputs: null }] },
    ]),
  ],
};

describe('runs of LangSmith', () => {
  for (const [formName, form] of Object.entries(FORMS))
    for (const [layoutName, layout] of Object.entries(LAYOUTS))
      test(`the runs with ${formName} in ${layoutName} are the calls that were made`, async () => {
        await fc.assert(
          fc.asyncProperty(anyCalls, async (calls) => {
            const values = layout(runsOf(calls, form));
            expect(langsmith.recognises(JSON.parse(JSON.stringify(values[0])) as never)).toBe(true);
            const items = await itemsOf(langsmith, ...values);
            expect(
              callsIn(items).map(({ run, request, response, exchange }) => ({
                run,
                at: exchange.at,
                durationMs: exchange.end?.durationMs,
                model: request.model,
                temperature: request.parameters['temperature'],
                shown: request.messages.map(plainMessage),
                answer: response.answer && plainMessage(response.answer),
                usage: response.usage && { input: response.usage.input, output: response.usage.output },
                fidelity: exchange.fidelity,
              })),
            ).toStrictEqual(
              calls.map(({ shown, answer, usage }, i) => ({
                ...{
                  run: 'thread-7',
                  at: START + 1_000 * i,
                  durationMs: 250,
                  model: 'm-1',
                  temperature: 0.5,
                },
                shown: shown.map(expectedMessage),
                answer: expectedMessage(answer),
                usage,
                fidelity: 'same',
              })),
            );
            expect(warningsIn(items)).toStrictEqual([]);
          }),
          { numRuns: 20 },
        );
      });

  const run = (over: Run): Run => ({
    ...{ id: 'r1', run_type: 'llm', trace_id: 't1', start_time: START, end_time: START + 250 },
    inputs: { messages: [{ role: 'user', content: 'How deep?' }], model: 'm-1' },
    outputs: { choices: [{ message: { role: 'assistant', content: '7 m', tool_calls: null } }] },
    prompt_tokens: 3,
    completion_tokens: 2,
    ...over,
  });

  test('tokens are taken of the run where its answer does not say them; the trace is the conversation', async () => {
    const [call] = callsIn(await itemsOf(langsmith, run({})));
    expect(call?.run).toBe('t1');
    expect(call?.response.usage).toMatchObject({ input: 3, output: 2 });
    expect(call?.exchange.missing).toBeUndefined();
  });

  test('a run that failed says why; one that has only begun is unknown', async () => {
    const [failed, open] = callsIn(
      await itemsOf(
        langsmith,
        run({ error: "RateLimitError('slow down')", outputs: null }),
        run({ id: 'r2', outputs: null, end_time: null, start_time: START + 1 }),
      ),
    );
    expect(failed?.exchange.end).toMatchObject({ status: 'failed', error: { code: 'RateLimitError' } });
    expect(open?.exchange.end?.status).toBe('unknown');
  });

  test('prompts that are texts are put together', async () => {
    const [call] = callsIn(
      await itemsOf(
        langsmith,
        run({ inputs: { prompts: ['How deep?'] }, outputs: { generations: [[{ text: '7 m' }]] } }),
      ),
    );
    expect(call?.request.messages).toStrictEqual([{ role: 'user', content: 'How deep?' }]);
    expect(call?.response.answer).toStrictEqual({ role: 'assistant', content: '7 m' });
    expect(call?.exchange.fidelity).toBe('reconstructed');
  });

  test('other runs and fields are counted; what stands twice is one; an end alone is named', async () => {
    const items = await itemsOf(
      langsmith,
      { post: [run({ app_path: '/a' }), { ...root, run_type: 'tool' }], patch: [{ id: 'r9', outputs: {} }] },
      run({}),
    );
    expect(callsIn(items)).toHaveLength(1);
    expect(droppedIn(items)).toStrictEqual({
      'end of a run without its beginning': 1,
      'field app_path': 1,
      'run of type tool': 1,
    });
    expect(warningsIn(items)).toStrictEqual(['W_REPEATED line 2']);
  });

  test('what is no run is refused with its place; a last line that is cut is named', async () => {
    await expect(itemsOf(langsmith, run({}), { hello: 1 })).rejects.toThrow('line 2 is no run');
    const items = await itemsOfLines(langsmith, [JSON.stringify(run({})), '{"id": "r2", "run_']);
    expect(warningsIn(items)).toStrictEqual(['W_LINE_CUT line 2']);
    expect(langsmith.recognises({ id: 'o1', traceId: 't1', type: 'GENERATION', startTime: 'x' })).toBe(false);
  });

  test('values of other types than they should have cost their fact, and nothing else', async () => {
    const names = [
      'inputs',
      'outputs',
      'extra',
      'error',
      'start_time',
      'end_time',
      'prompt_tokens',
      'child_runs_',
    ];
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), anyValue), async (over) => {
        expect(callsIn(await itemsOf(langsmith, run(over)))).toHaveLength(1);
      }),
      { numRuns: 300 },
    );
  });
});
