import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openSpanAssembly } from '../../src/foreign/otel/assembly.ts';
import { otel } from '../../src/foreign/otel/reader.ts';
import { anyCalls, anyValue, chatOf, expectedMessage, type AnyCall, type AnyMessage } from './any-calls.ts';
import { callsIn, droppedIn, itemsOf, itemsOfLines, plainMessage, warningsIn } from './items-of.ts';

type Value = string | number | boolean | readonly string[];
type Attributes = Readonly<Record<string, Value>>;
type Event = { readonly name: string; readonly attributes: Attributes };
/** A span before it is written in a layout. Times are milliseconds. */
type Drawn = {
  readonly trace: string;
  readonly id: string;
  readonly parent?: string;
  readonly name: string;
  readonly at: number;
  readonly attributes: Attributes;
  readonly events?: readonly Event[];
  readonly failed?: string;
};

const START = 1_788_000_000_000;

const valueOf = (value: Value): object => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(valueOf) } };
};

const listed = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

const otlpSpan = ({ trace, id, parent, name, at, attributes, events = [], failed }: Drawn): object => ({
  traceId: trace,
  spanId: id,
  ...(parent !== undefined && { parentSpanId: parent }),
  name,
  kind: 3,
  startTimeUnixNano: `${at}000000`,
  endTimeUnixNano: `${at + 250}000000`,
  attributes: listed(attributes),
  events: events.map((event) => ({
    name: event.name,
    timeUnixNano: '1',
    attributes: listed(event.attributes),
  })),
  status: failed === undefined ? {} : { code: 2, message: failed },
});

/** Every layout: the values of a file with these spans, one a line. */
const LAYOUTS: Readonly<Record<string, (spans: readonly Drawn[]) => readonly object[]>> = {
  otlp: (spans) => [
    {
      resourceSpans: [
        { resource: { attributes: [] }, scopeSpans: [{ scope: {}, spans: spans.map(otlpSpan) }] },
      ],
    },
  ],
  'otlp lines': (spans) =>
    spans.map((span) => ({ resourceSpans: [{ scopeSpans: [{ spans: [otlpSpan(span)] }] }] })),
  'old otlp': (spans) => [
    { resourceSpans: [{ instrumentationLibrarySpans: [{ spans: spans.map(otlpSpan) }] }] },
  ],
  tempo: (spans) => [{ batches: [{ resource: {}, scopeSpans: [{ spans: spans.map(otlpSpan) }] }] }],
  'tempo 2': (spans) => [{ trace: { resourceSpans: [{ scopeSpans: [{ spans: spans.map(otlpSpan) }] }] } }],
  jaeger: (spans) => [
    {
      data: [
        {
          traceID: 't1',
          spans: spans.map(({ trace, id, parent, name, at, attributes, events = [], failed }) => ({
            traceID: trace,
            spanID: id,
            operationName: name,
            references: parent === undefined ? [] : [{ refType: 'CHILD_OF', traceID: trace, spanID: parent }],
            startTime: at * 1_000,
            duration: 250_000,
            tags: Object.entries({
              ...attributes,
              ...(failed !== undefined && { 'otel.status_code': 'ERROR', 'otel.status_description': failed }),
            }).map(([key, value]) => ({ key, type: typeof value, value })),
            logs: events.map((event) => ({
              timestamp: at * 1_000,
              fields: Object.entries({ event: event.name, ...event.attributes }).map(([key, value]) => ({
                key,
                value,
              })),
            })),
          })),
          processes: {},
        },
      ],
    },
  ],
  phoenix: (spans) => [
    {
      data: spans.map(({ trace, id, parent = null, name, at, attributes, events = [], failed }) => ({
        id: `row-${id}`,
        name,
        context: { trace_id: trace, span_id: id },
        span_kind: 'UNKNOWN',
        parent_id: parent,
        start_time: new Date(at).toISOString(),
        end_time: new Date(at + 250).toISOString(),
        status_code: failed === undefined ? 'OK' : 'ERROR',
        status_message: failed ?? '',
        attributes,
        events,
      })),
      next_cursor: null,
    },
  ],
  'rows of a dataframe': (spans) =>
    spans.map(({ trace, id, parent = null, name, at, attributes, events = [], failed }) => ({
      name,
      span_kind: null,
      parent_id: parent,
      start_time: at,
      end_time: at + 250,
      status_code: failed === undefined ? 'UNSET' : 'ERROR',
      status_message: failed ?? '',
      events,
      'context.span_id': id,
      'context.trace_id': trace,
      ...Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`attributes.${key}`, value])),
    })),
  'console, Python': (spans) =>
    spans.map(({ trace, id, parent, name, at, attributes, events = [], failed }) => ({
      name,
      context: { trace_id: `0x${trace}`, span_id: `0x${id}`, trace_state: '[]' },
      kind: 'SpanKind.CLIENT',
      parent_id: parent === undefined ? null : `0x${parent}`,
      start_time: new Date(at).toISOString().replace('Z', '000Z'),
      end_time: new Date(at + 250).toISOString().replace('Z', '000Z'),
      status: { status_code: failed === undefined ? 'UNSET' : 'ERROR', description: failed },
      attributes,
      events: events.map((event) => ({ ...event, timestamp: '2026-09-01T10:00:00.000000Z' })),
      links: [],
      resource: { attributes: {}, schema_url: '' },
    })),
  'console, JavaScript': (spans) =>
    spans.map(({ trace, id, parent, name, at, attributes, events = [], failed }) => ({
      resource: { attributes: {} },
      traceId: trace,
      parentSpanContext: parent === undefined ? undefined : { traceId: trace, spanId: parent },
      name,
      id,
      kind: 2,
      timestamp: at * 1_000,
      duration: 250_000,
      attributes,
      status: failed === undefined ? { code: 0 } : { code: 2, message: failed },
      events,
      links: [],
    })),
  'spans of the SDK': (spans) =>
    spans.map(({ trace, id, parent, name, at, attributes, events = [], failed }) => ({
      _spanContext: { traceId: trace, spanId: id, traceFlags: 1 },
      parentSpanId: parent,
      name,
      startTime: [Math.floor(at / 1e3), (at % 1e3) * 1e6],
      endTime: [Math.floor((at + 250) / 1e3), ((at + 250) % 1e3) * 1e6],
      attributes,
      events,
      status: failed === undefined ? { code: 1 } : { code: 2, message: failed },
    })),
};

const parts = (message: AnyMessage): object => {
  if (message.role === 'tool')
    return {
      role: 'tool',
      parts: [{ type: 'tool_call_response', id: message.answers, response: message.text }],
    };
  const calls = message.role === 'assistant' ? message.calls : [];
  return {
    role: message.role,
    parts: [
      ...(message.text === '' ? [] : [{ type: 'text', content: message.text }]),
      ...calls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, arguments: input })),
    ],
  };
};

const indexed = (prefix: string, messages: readonly AnyMessage[], wrapped: boolean): Attributes =>
  Object.fromEntries(
    messages.flatMap((message, i) => {
      const at = `${prefix}.${i}${wrapped ? '.message' : ''}`;
      const calls = message.role === 'assistant' ? message.calls : [];
      return [
        [`${at}.role`, message.role],
        ...(message.text === '' ? [] : [[`${at}.content`, message.text]]),
        ...(message.role === 'tool' ? [[`${at}.tool_call_id`, message.answers]] : []),
        ...calls.flatMap(({ id, name, input }, j) => {
          const call = `${at}.tool_calls.${j}${wrapped ? '.tool_call' : ''}`;
          const [named, given] = wrapped ? ['function.name', 'function.arguments'] : ['name', 'arguments'];
          return [
            [`${call}.id`, id],
            [`${call}.${named}`, name],
            [`${call}.${given}`, JSON.stringify(input)],
          ];
        }),
      ];
    }),
  );

const eventOf = (message: AnyMessage): Event => {
  const calls = message.role === 'assistant' && message.calls.length > 0 ? chatOf(message) : null;
  return {
    name: `gen_ai.${message.role}.message`,
    attributes: {
      ...(message.text !== '' && { content: message.text }),
      ...(message.role === 'tool' && { id: message.answers }),
      ...(calls !== null && { tool_calls: JSON.stringify((calls as { tool_calls: object[] }).tool_calls) }),
    },
  };
};

const sdkMessage = (message: AnyMessage): object => {
  if (message.role === 'tool')
    return {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: message.answers,
          toolName: 'depth',
          output: { type: 'text', value: message.text },
        },
      ],
    };
  if (message.role !== 'assistant')
    return {
      role: message.role,
      content: message.role === 'system' ? message.text : [{ type: 'text', text: message.text }],
    };
  return {
    role: 'assistant',
    content: [
      ...(message.text === '' ? [] : [{ type: 'text', text: message.text }]),
      ...message.calls.map(({ id, name, input }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input,
      })),
    ],
  };
};

/** Every set of keys: a call as attributes and events. */
const KEYS: Readonly<Record<string, (call: AnyCall) => Pick<Drawn, 'attributes' | 'events'>>> = {
  'gen_ai, messages as parts': ({ shown, answer, usage }) => ({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': usage.input,
      'gen_ai.usage.output_tokens': usage.output,
      'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: shown[0]?.text }]),
      'gen_ai.input.messages': JSON.stringify(shown.slice(1).map(parts)),
      'gen_ai.output.messages': JSON.stringify([{ ...parts(answer), finish_reason: 'stop' }]),
    },
  }),
  'gen_ai, numbered': ({ shown, answer, usage }) => ({
    attributes: {
      'llm.request.type': 'chat',
      'gen_ai.request.model': 'm-1',
      'gen_ai.usage.prompt_tokens': usage.input,
      'gen_ai.usage.completion_tokens': usage.output,
      ...indexed('gen_ai.prompt', shown, false),
      ...indexed('gen_ai.completion', [answer], false),
      'gen_ai.completion.0.finish_reason': 'stop',
    },
  }),
  'gen_ai, events': ({ shown, answer, usage }) => ({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm-1',
      'gen_ai.usage.input_tokens': usage.input,
      'gen_ai.usage.output_tokens': usage.output,
    },
    events: [
      ...shown.map(eventOf),
      {
        name: 'gen_ai.choice',
        attributes: { index: 0, finish_reason: 'stop', message: JSON.stringify(chatOf(answer)) },
      },
    ],
  }),
  openinference: ({ shown, answer, usage }) => ({
    attributes: {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'm-1',
      'llm.finish_reason': 'stop',
      'llm.token_count.prompt': usage.input,
      'llm.token_count.completion': usage.output,
      ...indexed('llm.input_messages', shown, true),
      ...indexed('llm.output_messages', [answer], true),
    },
  }),
  'ai sdk': ({ shown, answer, usage }) => ({
    attributes: {
      'ai.operationId': 'ai.streamText.doStream',
      'ai.model.id': 'm-1',
      'gen_ai.request.model': 'm-1',
      'ai.usage.inputTokens': usage.input,
      'ai.usage.outputTokens': usage.output,
      'ai.response.finishReason': 'stop',
      'ai.prompt.messages': JSON.stringify(shown.map(sdkMessage)),
      'ai.response.text': answer.text,
      ...(answer.calls.length > 0 && {
        'ai.response.toolCalls': JSON.stringify(
          answer.calls.map(({ id, name, input }) => ({
            type: 'tool-call',
            toolCallId: id,
            toolName: name,
            input: JSON.stringify(input),
          })),
        ),
      }),
    },
  }),
};

const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** The spans of an agent's run: its own one with the sum of the tokens, and one for each call. */
const runOf = (calls: readonly AnyCall[], keys: (call: AnyCall) => Pick<Drawn, 'attributes' | 'events'>) => [
  {
    trace: TRACE,
    id: 'a000000000000000',
    name: 'agent',
    at: START,
    attributes: {
      'openinference.span.kind': 'AGENT',
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 1_000_000,
      'session.id': 'session-7',
    },
  },
  ...calls.map((call, i): Drawn => {
    const [trace, id, parent] = [TRACE, `b00000000000000${i}`, 'a000000000000000'];
    return { trace, id, parent, name: 'chat m-1', at: START + 1_000 * (i + 1), ...keys(call) };
  }),
];

const expected = (calls: readonly AnyCall[]) =>
  calls.map(({ shown, answer, usage }, i) => ({
    run: 'session-7',
    at: START + 1_000 * (i + 1),
    durationMs: 250,
    model: 'm-1',
    shown: shown.map(expectedMessage),
    answer: expectedMessage(answer),
    finishReason: 'stop',
    usage,
    fidelity: 'same',
  }));

const found = (items: Awaited<ReturnType<typeof itemsOf>>) =>
  callsIn(items).map(({ run, request, response, exchange }) => ({
    run,
    at: exchange.at,
    durationMs: exchange.end?.durationMs,
    model: request.model,
    shown: request.messages.map(plainMessage),
    answer: response.answer && plainMessage(response.answer),
    finishReason: response.finishReason,
    usage: response.usage && { input: response.usage.input, output: response.usage.output },
    fidelity: exchange.fidelity,
  }));

describe('traces of OpenTelemetry', () => {
  for (const [keysName, keys] of Object.entries(KEYS))
    for (const [layoutName, layout] of Object.entries(LAYOUTS))
      test(`the calls of ${keysName} in ${layoutName} are those that were made, in any order, also twice`, async () => {
        await fc.assert(
          fc.asyncProperty(anyCalls, fc.infiniteStream(fc.nat(99)), async (calls, chance) => {
            const spans = runOf(calls, keys).map((span) => ({ span, by: chance.next().value ?? 0 }));
            const shuffled = spans.toSorted((a, b) => a.by - b.by).map(({ span }) => span);
            const values = layout([...shuffled, ...shuffled.slice(0, 1)]);
            expect(values.every((value) => otel.recognises(value as never))).toBe(true);
            const items = await itemsOf(otel, ...values);
            expect(found(items)).toStrictEqual(expected(calls));
            expect(warningsIn(items)).toHaveLength(1);
          }),
          { numRuns: 8 },
        );
      });

  const hello: AnyCall = {
    shown: [{ role: 'user', text: 'How deep?' }],
    answer: { role: 'assistant', text: '7 m', calls: [] },
    usage: { input: 3, output: 2 },
  };
  const drawn = (over: Partial<Drawn>): Drawn => ({
    trace: TRACE,
    id: 'b000000000000000',
    name: 'chat',
    at: START,
    attributes: {},
    ...over,
  });
  const otlp = (...spans: readonly Drawn[]) => LAYOUTS['otlp']?.(spans) ?? [];
  const genAi = (over: Attributes = {}): Attributes => ({
    ...KEYS['gen_ai, numbered']?.(hello).attributes,
    ...over,
  });

  test('a call that two instrumentations report is one, and has what either says', async () => {
    const outer = drawn({
      id: 'b1',
      attributes: { 'openinference.span.kind': 'LLM', 'llm.model_name': 'm-1', 'input.value': 'How deep?' },
    });
    const inner = drawn({ id: 'b2', parent: 'b3', attributes: genAi(), at: START + 5 });
    const between = drawn({ id: 'b3', parent: 'b1', name: 'POST', attributes: { 'http.method': 'POST' } });
    const items = await itemsOf(otel, ...otlp(inner, between, outer));
    const [call, ...others] = callsIn(items);
    expect(others).toStrictEqual([]);
    expect(call?.exchange.id).toBe(`${TRACE}:b1`);
    expect(call?.response.answer).toStrictEqual({ role: 'assistant', content: '7 m' });
    expect(call?.response.usage).toMatchObject({ input: 3, output: 2 });
    expect(droppedIn(items)).toMatchObject({
      'span of a call that another span reports': 1,
      'span of kind other': 1,
    });
  });

  test('what a call does not say is named: no messages, no answer, no tokens, no tools', async () => {
    const bare = drawn({ attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm-1' } });
    const [call] = callsIn(await itemsOf(otel, ...otlp(bare)));
    expect(call?.exchange.fidelity).toBe('reconstructed');
    expect(call?.exchange.missing).toStrictEqual(['messages', 'answer', 'usage']);
    expect(call?.response.usage).toBeNull();
    const [tool] = callsIn(
      await itemsOf(
        otel,
        ...otlp(drawn({ attributes: genAi({ 'gen_ai.completion.0.tool_calls.0.name': 'depth' }) })),
      ),
    );
    expect(tool?.exchange.missing).toStrictEqual(['tools']);
  });

  test('parameters, tools, the cache and the model that answered are taken where a span has them', async () => {
    const attributes = genAi({
      'gen_ai.request.temperature': 0.5,
      'gen_ai.response.model': 'm-1-2026',
      'gen_ai.usage.cache_read_input_tokens': 1,
      'llm.request.functions.0.name': 'depth',
      'llm.request.functions.0.parameters': '{"type":"object"}',
      'my.own': 'x',
    });
    const items = await itemsOf(otel, ...otlp(drawn({ attributes })));
    const [call] = callsIn(items);
    expect(call?.request.parameters).toStrictEqual({ temperature: 0.5 });
    expect(call?.request.tools).toStrictEqual([
      { type: 'function', function: { name: 'depth', parameters: { type: 'object' } } },
    ]);
    expect(call?.response.model).toBe('m-1-2026');
    expect(call?.response.usage?.cached).toBe(1);
    expect(droppedIn(items)).toStrictEqual({ 'attribute my.own': 1 });
  });

  test('a span that failed is a call that failed, with what its event says', async () => {
    const failed = drawn({
      attributes: genAi(),
      failed: 'Rate limit',
      events: [{ name: 'exception', attributes: { 'exception.type': 'RateLimitError' } }],
    });
    const [call] = callsIn(await itemsOf(otel, ...otlp(failed)));
    expect(call?.exchange.end).toMatchObject({
      status: 'failed',
      error: { code: 'RateLimitError', message: 'Rate limit' },
    });
  });

  test('spans that name no conversation are those of their trace; two traces of one are one', async () => {
    const [alone, first, second] = [
      drawn({ trace: 't1', id: '1', attributes: genAi() }),
      drawn({ trace: 't2', id: '1', attributes: genAi({ 'gen_ai.conversation.id': 'talk' }) }),
      drawn({ trace: 't3', id: '1', at: START + 9, attributes: genAi({ 'gen_ai.conversation.id': 'talk' }) }),
    ];
    const runs = callsIn(await itemsOf(otel, ...otlp(second, first, alone))).map(({ run }) => run);
    expect(runs).toStrictEqual(['talk', 'talk', 't1']);
  });

  test('of several choices the first is the answer, the others are counted', async () => {
    const attributes = genAi({
      'gen_ai.completion.1.role': 'assistant',
      'gen_ai.completion.1.content': '8 m',
    });
    const items = await itemsOf(otel, ...otlp(drawn({ attributes })));
    expect(callsIn(items)[0]?.response.answer).toStrictEqual({ role: 'assistant', content: '7 m' });
    expect(droppedIn(items)).toStrictEqual({ 'further choice of an answer': 1 });
  });

  test('what a model thought stays a part of its message', async () => {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm-1',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"How deep?"}]}]',
      'gen_ai.output.messages':
        '[{"role":"assistant","parts":[{"type":"reasoning","content":"It is a lake."},{"type":"text","content":"7 m"}]}]',
    };
    const [call] = callsIn(await itemsOf(otel, ...otlp(drawn({ attributes }))));
    expect(call?.response.answer?.['content']).toStrictEqual([
      { type: 'thinking', thinking: 'It is a lake.' },
      { type: 'text', text: '7 m' },
    ]);
  });

  test('LangChain’s request and answer are read where OpenInference has nothing else', async () => {
    const message = (name: string, kwargs: object) => ({
      lc: 1,
      type: 'constructor',
      id: ['langchain', 'schema', 'messages', name],
      kwargs,
    });
    const attributes = {
      'openinference.span.kind': 'LLM',
      'input.value': JSON.stringify({ messages: [[message('HumanMessage', { content: 'How deep?' })]] }),
      'output.value': JSON.stringify({
        generations: [
          [
            {
              text: '7 m',
              generation_info: { finish_reason: 'stop' },
              message: message('AIMessage', {
                content: '7 m',
                usage_metadata: { input_tokens: 3, output_tokens: 2 },
              }),
            },
          ],
        ],
        llm_output: { model_name: 'm-1' },
      }),
    };
    const [call] = callsIn(await itemsOf(otel, ...otlp(drawn({ attributes }))));
    expect(call?.request.messages).toStrictEqual([{ role: 'user', content: 'How deep?' }]);
    expect(call?.response).toMatchObject({
      answer: { role: 'assistant', content: '7 m' },
      finishReason: 'stop',
      model: 'm-1',
      usage: { input: 3, output: 2 },
    });
  });

  test('a line that is cut off at the end, and one that is damaged, are named; the others come', async () => {
    const [line] = otlp(drawn({ attributes: genAi() })).map((value) => JSON.stringify(value));
    const items = await itemsOfLines(otel, ['{"resourceSpans": [', line ?? '', '{"resourceSpans": [{']);
    expect(callsIn(items)).toHaveLength(1);
    expect(warningsIn(items)).toStrictEqual(['W_LINE_DAMAGED line 1', 'W_LINE_CUT line 3']);
  });

  test('parents that are missing, or follow each other in a circle, keep no call away', async () => {
    const spans = [
      drawn({ id: '1', parent: 'nobody', attributes: genAi() }),
      drawn({ id: '2', parent: '3', attributes: genAi() }),
      drawn({ id: '3', parent: '2', attributes: { 'http.method': 'POST' } }),
    ];
    expect(callsIn(await itemsOf(otel, ...otlp(...spans)))).toHaveLength(2);
  });

  test('what is no span is refused with its place', async () => {
    const [value] = otlp(drawn({ attributes: genAi() }));
    await expect(
      itemsOf(otel, value, { resourceSpans: [{ scopeSpans: [{ spans: [null] }] }] }),
    ).rejects.toThrow('line 2, resourceSpans, item 0, scopeSpans, item 0, spans, item 0 is no span');
    await expect(itemsOf(otel, value, { hello: 1 })).rejects.toThrow('line 2 is no span, and holds none');
  });

  test('logs and metrics beside traces are counted', async () => {
    const [value] = otlp(drawn({ attributes: genAi() }));
    const items = await itemsOf(otel, value, { resourceLogs: [] }, { resourceMetrics: [] });
    expect(droppedIn(items)).toStrictEqual({ resourceLogs: 1, resourceMetrics: 1 });
  });

  test('values of other types than they should have cost their fact, and nothing else', async () => {
    const junk = anyValue;
    const names = [
      ...['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.prompt', 'gen_ai.completion.0.content'],
      ...['gen_ai.prompt.0.tool_calls', 'gen_ai.usage.input_tokens', 'llm.input_messages', 'llm.tools'],
      ...['ai.prompt.messages', 'ai.response.toolCalls', 'input.value', 'output.value', 'events'],
      ...[
        'gen_ai.prompt.constructor.role',
        'gen_ai.prompt.99999999999.role',
        'gen_ai.prompt.0.role',
        'session.id',
      ],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(
          fc.constantFrom(...names),
          fc.oneof(
            junk,
            junk.map((x) => JSON.stringify(x)),
          ),
        ),
        async (over) => {
          const span = {
            ...otlpSpan(drawn({})),
            attributes: { 'gen_ai.operation.name': 'chat', ...over },
          };
          expect(callsIn(await itemsOf(otel, span))).toHaveLength(1);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a trace whose root has come can be released while others wait', () => {
    const assembly = openSpanAssembly();
    const span = (trace: string, id: string, parent: string | null, attributes: Attributes) => ({
      ...{ traceId: trace, spanId: id, parentId: parent, name: 'chat', startMs: START, durationMs: 1 },
      ...{ attributes, events: [], error: null },
    });
    assembly.add(span('t1', 'b', 'a', genAi()));
    assembly.add(span('t2', 'b', 'a', genAi()));
    expect([...assembly.release('closed')]).toStrictEqual([]);
    assembly.add(span('t1', 'a', null, { 'openinference.span.kind': 'AGENT' }));
    expect(callsIn([...assembly.release('closed')]).map(({ run }) => run)).toStrictEqual(['t1']);
    expect(assembly.size()).toBeGreaterThan(0);
    expect(assembly.add(span('t1', 'b', 'a', genAi()))).toBeNull();
    // A call above one that was released is the same call.
    assembly.add(span('t2', 'a', null, genAi()));
    expect(callsIn([...assembly.release('all')]).map(({ exchange }) => exchange.id)).toStrictEqual(['t2:a']);
    expect(assembly.size()).toBe(0);
  });
});
