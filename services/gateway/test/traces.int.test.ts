import { context, trace, type Context } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { SimpleSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGateway, serveGateway } from '../src/index.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-traces-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Every call of the home, by when it was made. */
const recordedCalls = async () => {
  const histories = await home.read.histories();
  const calls = await Promise.all(
    histories.map(async ({ history }) => (await home.calls.list(await home.find(history))).attempts),
  );
  return calls.flat();
};

type Attributes = Readonly<Record<string, string | number>>;

const chat = (shown: readonly object[], answer: object, usage: number): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm-1',
  'gen_ai.usage.input_tokens': usage,
  'gen_ai.usage.output_tokens': 2,
  'gen_ai.input.messages': JSON.stringify(shown),
  'gen_ai.output.messages': JSON.stringify([answer]),
});
const said = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });
const asked = [said('user', 'How deep?')];
const tool = {
  role: 'assistant',
  parts: [{ type: 'tool_call', id: 'c1', name: 'depth', arguments: { at: 'pier' } }],
};
const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '7 m' }] };

/** An agent that calls a model twice; its client of HTTP reports spans below the calls. */
const runAgent = async (exporter: SpanExporter): Promise<void> => {
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = provider.getTracer('agent');
  const start = (name: string, attributes: Attributes, above: Context) => {
    const span = tracer.startSpan(name, { attributes }, above);
    return { span, within: trace.setSpan(above, span) };
  };
  const agent = start('agent', { 'gen_ai.operation.name': 'invoke_agent' }, context.active());
  for (const attributes of [
    chat(asked, tool, 10),
    chat([...asked, tool, result], said('assistant', '7 m'), 20),
  ]) {
    const call = start('chat m-1', attributes, agent.within);
    start('POST', { 'http.request.method': 'POST' }, call.within).span.end();
    call.span.end();
  }
  agent.span.end();
  await provider.forceFlush();
  await provider.shutdown();
};

test.each([
  ['JSON', (url: string) => new JsonExporter({ url })],
  ['protobuf', (url: string) => new ProtobufExporter({ url })],
  ['protobuf with gzip', (url: string) => new ProtobufExporter({ url, compression: 'gzip' as never })],
])(
  'the SDK of OpenTelemetry sends its spans as %s, and the calls among them are recorded',
  async (_name, open) => {
    const gateway = await serveGateway({ home, port: 0 });
    try {
      await runAgent(open(`${gateway.url}/v1/traces`));
      await expect.poll(async () => (await recordedCalls()).length, { timeout: 5_000 }).toBe(2);
    } finally {
      await gateway.close();
    }
    const calls = await recordedCalls();
    expect(
      calls.map(({ label, status, model, match, usage }) => [label, status, model, match, usage?.input]),
    ).toEqual([
      ['@c1', 'answered', 'm-1', 'started', 10],
      ['@c2', 'answered', 'm-1', 'appended', 20],
    ]);
  },
);

const span = (id: string, parent: string | null, at: number, attributes: Attributes = {}) => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: id,
  ...(parent !== null && { parentSpanId: parent }),
  name: id,
  startTimeUnixNano: `${1_788_000_000_000 + at}000000`,
  endTimeUnixNano: `${1_788_000_000_000 + at + 5}000000`,
  attributes: Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  })),
});

const [root, first, second] = [
  span('a', null, 0),
  span('b', 'a', 10, chat(asked, tool, 10)),
  span('c', 'a', 20, chat([...asked, tool, result], said('assistant', '7 m'), 20)),
];

const sender = () => {
  const gateway = createGateway({ home });
  return (
    spans: readonly object[],
    headers: Record<string, string> = {},
    body?: string | Uint8Array<ArrayBuffer>,
  ) =>
    gateway.request('/v1/traces', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: body ?? JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
    });
};

test('spans in any order, in requests of their own, late and twice, give each call once', async () => {
  const send = sender();
  for (const each of [second, second, first]) await send([each]);
  expect(await recordedCalls()).toEqual([]);
  const answer = await send([root]);
  expect([answer.status, await answer.text()]).toEqual([200, '{"partialSuccess":{}}']);
  for (const each of [first, root, second]) await send([each]);
  // A span of another instrumentation below a call that is recorded: the same call.
  await send([span('d', 'b', 11, chat(asked, tool, 10))]);
  // A gateway that was started since knows nothing of them.
  await sender()([root, second, first]);
  const calls = await recordedCalls();
  expect(calls.map(({ label, match }) => [label, match])).toEqual([
    ['@c1', 'started'],
    ['@c2', 'appended'],
  ]);
});

test('calls of a gateway that ends are recorded, though the root of their trace never came', async () => {
  const gateway = await serveGateway({ home, port: 0 });
  await fetch(`${gateway.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [first] }] }] }),
  });
  await gateway.close();
  expect(await recordedCalls()).toHaveLength(1);
});

test('what is no OTLP is refused with its code, and nothing of it is taken', async () => {
  const send = sender();
  const codeOf = async (answer: Response): Promise<unknown> =>
    ((await answer.json()) as { error: { code: string } }).error.code;
  const protobuf = { 'content-type': 'application/x-protobuf' };
  const gzip = { 'content-encoding': 'gzip' };
  expect(await codeOf(await send([root, first, { hello: 1 }]))).toBe('E_INPUT_SHAPE');
  expect(await codeOf(await send([], protobuf, new Uint8Array([10, 255, 255, 255])))).toBe('E_INPUT_SHAPE');
  expect(await codeOf(await send([], { 'content-type': 'text/plain' }))).toBe('E_USAGE');
  expect(await codeOf(await send([], { 'content-encoding': 'br' }))).toBe('E_USAGE');
  expect(await codeOf(await send([], gzip, new Uint8Array([1, 2, 3])))).toBe('E_INPUT_SHAPE');
  const bomb = new Uint8Array(gzipSync(new Uint8Array(65 * 1024 * 1024)));
  expect(await codeOf(await send([], gzip, bomb))).toBe('E_INPUT_TOO_LARGE');
  // Values in values, as deep as a request can have them.
  let deep = new Uint8Array();
  for (let i = 0; i < 300; i++) deep = wrapped(5, wrapped(1, deep));
  const spanBytes = wrapped(9, new Uint8Array([...wrapped(1, new Uint8Array([65])), ...wrapped(2, deep)]));
  const request = wrapped(1, wrapped(2, wrapped(2, spanBytes)));
  expect(await codeOf(await send([], protobuf, request))).toBe('E_INPUT_SHAPE');
  expect(await codeOf(await send([], {}, '{"resourceSpans": 1}'))).toBe('E_COMMAND_INVALID');
  expect((await send([root])).status).toBe(200);
  expect(await recordedCalls()).toEqual([]);
});

/** Bytes as a field of protobuf. */
const wrapped = (field: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> => {
  const length: number[] = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return new Uint8Array([(field << 3) | 2, ...length, ...bytes]);
};
