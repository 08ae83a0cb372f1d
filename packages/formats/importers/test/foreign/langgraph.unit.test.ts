import { encode, ExtData } from '@msgpack/msgpack';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { langgraph } from '../../src/foreign/langgraph/reader.ts';
import { compareThreads, LANGGRAPH_HEAD, parentsFirst } from '../../src/foreign/langgraph/stored.ts';
import { readTypedValue } from '../../src/foreign/langgraph/typed-value.ts';
import type { ForeignItem } from '../../src/foreign/item.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

type Fields = Readonly<Record<string, unknown>>;
type Said = { readonly id: string; readonly type: string; readonly content: string; readonly more?: Fields };

const CLASSES: Readonly<Record<string, string>> = {
  ...{ human: 'HumanMessage', ai: 'AIMessage', tool: 'ToolMessage', system: 'SystemMessage' },
  remove: 'RemoveMessage',
};
const bytesOf = (value: unknown): Uint8Array => encode(value);
const typed = (type: string, bytes: Uint8Array) => ({ type, base64: Buffer.from(bytes).toString('base64') });

/** How the savers of both languages write messages and values. */
const LANGUAGES = {
  Python: {
    message: ({ id, type, content, more }: Said): unknown =>
      new ExtData(
        5,
        bytesOf([
          'langchain_core.messages',
          CLASSES[type],
          { id, type, content, ...more },
          'model_validate_json',
        ]),
      ),
    snapshot: (value: unknown): unknown => new ExtData(7, bytesOf(value)),
    value: (value: unknown) => typed('msgpack', bytesOf(value)),
  },
  JavaScript: {
    message: ({ id, type, content, more }: Said): unknown => ({
      ...{ lc: 1, type: 'constructor', id: ['langchain_core', 'messages', CLASSES[type]] },
      kwargs: { id, content, ...more },
    }),
    snapshot: (value: unknown): unknown => ({ lc: 2, type: 'delta_snapshot', value }),
    value: (value: unknown) => typed('json', Buffer.from(JSON.stringify(value))),
  },
};
type Language = (typeof LANGUAGES)['Python'];

type Row = {
  readonly id: string;
  readonly parent?: string;
  readonly thread?: string;
  readonly ns?: string;
  readonly channels?: Fields;
  readonly versions?: Fields;
  readonly metadata?: Fields;
  readonly writes?: readonly (readonly [string, unknown])[];
};

const lineOf =
  (language: Language) =>
  ({ id, parent, thread = 't', ns = '', channels = {}, versions, metadata, writes = [] }: Row): Fields => ({
    ...{ thread_id: thread, checkpoint_ns: ns, checkpoint_id: id, parent_checkpoint_id: parent ?? null },
    checkpoint: language.value({
      ...{ v: 4, id, ts: `2026-09-01T10:00:0${Number.parseInt(id, 36) % 10}.5+00:00` },
      channel_values: channels,
      channel_versions: versions ?? Object.fromEntries(Object.keys(channels).map((name) => [name, id])),
    }),
    metadata: typed('json', Buffer.from(JSON.stringify({ source: 'loop', ...metadata }))),
    values: [],
    writes: writes.map(([channel, value]) => ({ channel, ...language.value(value) })),
  });

const textOf = (language: Language, rows: readonly Row[]): string =>
  [LANGGRAPH_HEAD, ...rows.map(lineOf(language))].map((line) => JSON.stringify(line)).join('\n');

const human = (id: string, content = id): Said => ({ id, type: 'human', content });
const ai = (id: string, more: Fields = {}): Said => ({
  ...{ id, type: 'ai', content: id },
  more: {
    response_metadata: { model_name: 'm', finish_reason: 'stop' },
    usage_metadata: { input_tokens: 10, output_tokens: 2 },
    ...more,
  },
});

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What items say, in short: `call a1`, `message u1 again`, `removal keeping …`. */
const said = (items: readonly ForeignItem[]): readonly string[] =>
  items.flatMap((item) => {
    if (item.kind === 'call') return [`call ${plain(item.answer?.['content'])} after ${item.after}`];
    if (item.kind === 'message')
      return [
        `${item.again === true ? 'again ' : ''}${item.role} ${plain(item.messages[0]?.['content'])} after ${item.after}`,
      ];
    return item.kind === 'compaction' ? [`removal after ${item.after} keeping ${item.keeps?.join(' ')}`] : [];
  });

test.each(Object.entries(LANGUAGES))(
  'a thread that %s wrote is walked along its parents',
  async (_name, language) => {
    const state = (...messages: readonly Said[]) => ({ messages: messages.map(language.message) });
    const text = textOf(language, [
      { id: '1', channels: { __start__: { messages: [] } } },
      { id: '2', parent: '1', channels: state(human('u1')) },
      {
        ...{ id: '3', parent: '2' },
        channels: state(human('u1'), ai('a1', { tool_calls: [{ id: 'c', name: 'look', args: { at: 1 } }] })),
      },
      {
        id: '4',
        parent: '3',
        channels: {
          ...state(
            human('u1'),
            ai('a1', { tool_calls: [{ id: 'c', name: 'look', args: { at: 1 } }] }),
            human('u2'),
          ),
          notes: ['x'],
        },
      },
      { id: '5', parent: '2', channels: state(human('u1'), ai('a2')) },
      {
        id: '6',
        parent: '4',
        channels: state(human('u2'), ai('a3')),
        writes: [['__interrupt__', ['may I?']]],
      },
    ]);
    const items = await itemsOf(langgraph, text);
    expect(said(items)).toEqual([
      'user u1 after null',
      'call a1 after 2:0',
      'user u2 after 3:0',
      'call a2 after 2:0',
      'removal after 4:0 keeping 4:0',
      'call a3 after 6:removal',
    ]);
    expect(callsIn(items)[0]).toMatchObject({
      ...{ model: 'm', finishReason: 'stop', usage: { input: 10, output: 2 } },
      answer: { tool_calls: [{ id: 'c', function: { name: 'look', arguments: '{"at":1}' } }] },
      missing: ['system prompt', 'tools', 'parameters'],
      at: Date.parse('2026-09-01T10:00:03.500Z'),
    });
    expect(namedIn(items)).toEqual({ 'channel __start__': 1, 'channel notes': 1, 'write __interrupt__': 1 });
    expect(items.filter(({ kind }) => kind === 'conversation')).toMatchObject([
      { title: 't', version: 'v4' },
    ]);
  },
);

test.each(Object.entries(LANGUAGES))(
  'a channel of deltas that %s wrote is put together from what was written',
  async (_name, language) => {
    const { message, snapshot } = language;
    const metadata = { counters_since_delta_snapshot: { messages: [1, 1] } };
    const text = textOf(language, [
      { id: '1', metadata, writes: [['messages', [message(human('u1'))]]] },
      {
        id: '2',
        parent: '1',
        metadata,
        versions: { messages: 2 },
        writes: [
          ['messages', message(ai('a1'))],
          ['other', 1],
        ],
      },
      { id: '3', parent: '2', channels: { messages: snapshot([message(human('u1')), message(ai('a1'))]) } },
      {
        ...{ id: '4', parent: '2', metadata, versions: { messages: 4 } },
        writes: [['messages', [message({ id: 'u1', type: 'remove', content: '' }), message(human('u2'))]]],
      },
      {
        id: '5',
        parent: '4',
        metadata,
        versions: { messages: 5 },
        writes: [['messages', { __overwrite__: [message(human('u3'))] }]],
      },
      { id: '6', parent: '5', metadata, versions: { messages: 6 } },
    ]);
    expect(said(await itemsOf(langgraph, text))).toEqual([
      'user u1 after null',
      'call a1 after 2:0',
      'again assistant a1 after 2:0',
      'removal after 4:0 keeping 4:0',
      'user u2 after 5:removal',
      'removal after 5:0 keeping ',
      'user u3 after 6:removal',
    ]);
  },
);

test('an edited message, and one that another graph of the thread had, are no further calls', async () => {
  const { message } = LANGUAGES.Python;
  const text = textOf(LANGUAGES.Python, [
    { id: '1', ns: 'child:1', channels: { messages: [message(ai('a1'))] } },
    { id: '2', channels: { messages: [message(human('u1')), message(ai('a1'))] } },
    {
      id: '3',
      parent: '2',
      channels: { messages: [message(human('u1')), message({ ...ai('a1'), content: 'other' })] },
    },
  ]);
  const items = await itemsOf(langgraph, text);
  expect(said(items)).toEqual([
    'call a1 after null',
    'user u1 after null',
    'again assistant a1 after 2:0',
    'removal after 2:1 keeping 2:0',
    'assistant other after 3:removal',
  ]);
  expect(items.filter(({ kind }) => kind === 'conversation')).toMatchObject([
    { title: 't child:1', sidechain: true },
    { title: 't' },
  ]);
});

test('values are data: what an extension names is never looked up, and other forms are counted', async () => {
  const ext = (type: number, ...parts: readonly unknown[]) => new ExtData(type, bytesOf(parts));
  const value = {
    ...{ uuid: ext(0, 'uuid', 'UUID', '00ff'), path: ext(1, 'pathlib', 'Path', ['/', 'tmp']) },
    ...{
      call: ext(2, 'os', 'system', { command: 'true' }),
      time: ext(3, 'datetime', 'datetime', '2026', 'fromisoformat'),
    },
    ...{
      old: ext(4, 'm', 'Model', { a: 1 }),
      array: ext(6, 'uint8'),
      bytes: new Uint8Array([1, 2]),
      many: 2n ** 60n,
    },
    nan: Number.NaN,
  };
  expect(readTypedValue('msgpack', encode(value, { useBigInt64: true }))).toEqual({
    ...{
      uuid: '00ff',
      path: ['/', 'tmp'],
      call: { command: 'true' },
      time: '2026',
      old: { a: 1 },
      array: null,
    },
    ...{ bytes: { base64: 'AQI=' }, many: 2n ** 60n, nan: null },
  });
  expect(readTypedValue('pickle', new Uint8Array([0x80, 4]))).toBe(undefined);
  expect(() => readTypedValue('msgpack', new Uint8Array([0xdd, 255, 255, 255, 255]))).toThrow('cut off');
  expect(() => readTypedValue('msgpack', new Uint8Array(100_000).fill(0x91))).toThrow(/deep|cut off/);
  expect(() => readTypedValue('msgpack', encode({ constructor: 1 }))).toThrow('constructor');
  let nested: unknown = 'x';
  for (let i = 0; i < 100; i++) nested = ext(0, 'a', 'b', nested);
  expect(() => readTypedValue('msgpack', encode(nested))).toThrow('more than 64 extensions');
});

test('what cannot be read is named, what holds no messages is refused', async () => {
  const { message } = LANGUAGES.Python;
  const [head, good] = textOf(LANGUAGES.Python, [
    { id: '2', parent: '1', channels: { messages: [message(human('u1'))] } },
  ]).split('\n');
  const row = JSON.parse(good ?? '') as Fields;
  const pickled = {
    ...row,
    checkpoint_id: '1',
    parent_checkpoint_id: null,
    checkpoint: typed('pickle', new Uint8Array([1])),
  };
  const lines = (...rows: readonly Fields[]) =>
    [head, ...rows.map((each) => JSON.stringify(each))].join('\n');
  const items = await itemsOf(langgraph, lines(pickled, row));
  expect(said(items)).toEqual(['user u1 after null']);
  expect(namedIn(items)).toEqual({ 'checkpoint of the form pickle': 1, W_VALUE_UNREAD: 1 });
  await expect(itemsOf(langgraph, lines(pickled))).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
  await expect(itemsOf(langgraph, lines())).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
  await expect(itemsOf(langgraph, lines({ thread_id: 7 }))).rejects.toMatchObject({ code: 'E_INPUT_SHAPE' });
  expect(await isRecognised(langgraph, '{"messages":[]}')).toBe(false);
  // A thread whose older checkpoints were deleted.
  expect(namedIn(await itemsOf(langgraph, lines(row)))).toEqual({ W_PARENT_MISSING: 1 });
});

test('rows come behind their parents, whatever their ids are, and inner graphs before outer ones', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 30 }), (parents) => {
      const rows = parents.map((parent, i) => ({
        id: `${(i * 7) % 31}`,
        parent: parent > 25 ? null : `${parent}`,
      }));
      const ordered = parentsFirst(rows);
      expect(new Set(ordered)).toEqual(new Set(rows));
      expect(ordered).toHaveLength(rows.length);
      const cyclic = (id: string | null, steps = 0): boolean =>
        steps > rows.length ||
        (id !== null && cyclic(rows.find((row) => row.id === id)?.parent ?? null, steps + 1));
      for (const [at, { id, parent }] of ordered.entries()) {
        const above = ordered.findIndex((row) => row.id === parent);
        if (!cyclic(id)) expect(above).toBeLessThan(at);
      }
    }),
  );
  const names = ['', 'a:1', 'a:1|b:2', 'b:1'].map((ns) => ({ thread: 't', ns }));
  expect(names.sort(compareThreads).map(({ ns }) => ns)).toEqual(['a:1|b:2', 'a:1', 'b:1', '']);
});

test('threads that are made give the same calls, results and tokens', async () => {
  const step = fc.record({
    from: fc.nat(20),
    kind: fc.constantFrom('ai', 'human', 'tool'),
    drops: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 20 }),
      fc.constantFrom(...Object.values(LANGUAGES)),
      async (steps, language) => {
        const states: Said[][] = [[]];
        const rows = steps.map(({ from, kind, drops }, i): Row => {
          const parent = from % states.length;
          const before = states[parent] ?? [];
          const state = [
            ...(drops ? before.slice(1) : before),
            {
              ...(kind === 'ai' ? ai(`m${i}`) : human(`m${i}`)),
              type: kind,
              ...(kind === 'tool' && { more: { tool_call_id: 'c' } }),
            },
          ];
          states.push(state);
          return {
            id: (i + 1).toString(36).padStart(2, '0'),
            ...(parent > 0 && { parent: parent.toString(36).padStart(2, '0') }),
            channels: { messages: state.map(language.message) },
          };
        });
        const items = await itemsOf(langgraph, textOf(language, rows));
        const of = (kind: string) => steps.filter((each) => each.kind === kind).length;
        expect(callsIn(items)).toHaveLength(of('ai'));
        const counted = messagesIn(items).filter(({ again }) => again !== true);
        expect(counted.filter(({ role }) => role === 'tool')).toHaveLength(of('tool'));
        expect(counted.filter(({ role }) => role === 'user')).toHaveLength(of('human'));
        expect(callsIn(items).reduce((sum, { usage }) => sum + (usage?.input ?? 0), 0)).toBe(of('ai') * 10);
      },
    ),
  );
});

test('damaged rows give items or a coded error', async () => {
  const { message } = LANGUAGES.JavaScript;
  const rows = [
    {
      id: '1',
      channels: { messages: [message(human('u1'))] },
      writes: [['messages', message(ai('a1'))]] as const,
    },
    { id: '2', parent: '1', channels: { messages: [message(human('u1')), message(ai('a1'))] } },
  ];
  await survivesDamage(langgraph, [LANGGRAPH_HEAD, ...rows.map(lineOf(LANGUAGES.JavaScript))]);
});
