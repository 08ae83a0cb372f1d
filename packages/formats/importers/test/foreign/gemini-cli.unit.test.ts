import fc from 'fast-check';
import { expect, test } from 'vitest';
import { geminiCli } from '../../src/foreign/gemini-cli.ts';
import type { ForeignItem } from '../../src/foreign/item.ts';
import { callsIn, isRecognised, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const HEAD = {
  sessionId: 's1',
  projectHash: 'h',
  startTime: '2026-09-01T10:00:00.000Z',
  lastUpdated: '2026-09-01T10:00:00.000Z',
};
const user = (id: string, content: unknown) => ({
  id,
  timestamp: '2026-09-01T10:00:01.000Z',
  type: 'user',
  content,
});
const gemini = (id: string, content: unknown, more: object = {}) => ({
  id,
  timestamp: '2026-09-01T10:00:02.000Z',
  type: 'gemini',
  content,
  model: 'gemini-x',
  ...more,
});
const response = (id: string, output: unknown) => [
  { functionResponse: { id, name: 'depth', response: { output } } },
];
const lines = (...records: readonly unknown[]): string =>
  records.map((record) => JSON.stringify(record)).join('\n');

/** The ids of messages and calls, each with the one that it follows. */
const placesOf = (items: readonly ForeignItem[]) =>
  items.flatMap((item) => (item.kind === 'message' || item.kind === 'call' ? [[item.id, item.after]] : []));

const AT = Date.parse('2026-09-01T10:00:02.000Z');

test('a session in one document gives its calls with thoughts, tools, results and tokens', async () => {
  const document = {
    ...HEAD,
    summary: 'The depth',
    messages: [
      user('u1', 'How deep?'),
      { id: 'i1', timestamp: 'x', type: 'info', content: 'Model set.' },
      gemini('g1', 'I look.', {
        thoughts: [{ subject: 'Depth', description: 'Ask the tool.', timestamp: 'x' }],
        tokens: { input: 20, output: 5, cached: 4, thoughts: 3, tool: 1, total: 29 },
        toolCalls: [
          {
            id: 'c1',
            name: 'depth',
            args: { at: 1 },
            status: 'success',
            result: response('c1', '7'),
            timestamp: '2026-09-01T10:00:03.000Z',
            resultDisplay: 'seven',
          },
          {
            id: 'c2',
            name: 'depth',
            args: { at: 2 },
            status: 'error',
            result: 'no such pier',
            timestamp: 'x',
          },
          { id: 'c3', name: 'depth', args: {}, status: 'cancelled', result: null, timestamp: 'x' },
        ],
      }),
      gemini('g2', [{ text: '7 m', thoughtSignature: 'c2ln' }], { tokens: null }),
    ],
  };
  const items = await itemsOf(geminiCli, JSON.stringify(document, null, 1));
  expect(items[0]).toEqual({ kind: 'conversation', key: 's1', title: 'The depth' });
  expect(callsIn(items)).toEqual([
    {
      kind: 'call',
      id: 'g1',
      after: 'u1',
      at: AT,
      model: 'gemini-x',
      answer: {
        role: 'assistant',
        content: [
          { type: 'thought', thought: '**Depth**\nAsk the tool.' },
          { type: 'text', text: 'I look.' },
        ],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'depth', arguments: '{"at":1}' } },
          { id: 'c2', type: 'function', function: { name: 'depth', arguments: '{"at":2}' } },
          { id: 'c3', type: 'function', function: { name: 'depth', arguments: '{}' } },
        ],
      },
      usage: { input: 21, output: 8, cached: 4, cacheWrite: null, reasoning: 3 },
      stated: { input: 20, output: 5, cached: 4, cacheWrite: null, reasoning: 3 },
      missing: ['system prompt', 'tools', 'parameters'],
    },
    {
      kind: 'call',
      id: 'g2',
      after: 'g1',
      at: AT,
      model: 'gemini-x',
      answer: { role: 'assistant', content: [{ type: 'text', text: '7 m', thoughtSignature: 'c2ln' }] },
      usage: null,
      stated: null,
      missing: ['system prompt', 'tools', 'parameters', 'usage'],
    },
  ]);
  expect(
    messagesIn(items).map(({ role, messages: [message] }) => [
      role,
      message?.['tool_call_id'],
      message?.['content'],
      message?.['is_error'],
    ]),
  ).toEqual([
    ['user', undefined, [{ type: 'text', text: 'How deep?' }], undefined],
    ['tool', 'c1', '{"output":"7"}', undefined],
    ['tool', 'c2', '{"output":"no such pier"}', true],
  ]);
  expect(namedIn(items)).toEqual({ 'message info': 1 });
});

test('a later line of an id stands in place of the one before, and results that are told twice are read once', async () => {
  const text = lines(
    { ...HEAD, kind: 'main' },
    { $set: { messages: [user('u0', [{ text: '<session_context>' }])], lastUpdated: 'x' } },
    user('u1', [{ text: 'How deep?' }]),
    { $set: { lastUpdated: 'x' } },
    gemini('g1', ''),
    gemini('g1', '', { tokens: { input: 9, output: 1, cached: 0, total: 10 } }),
    gemini('g1', [{ functionCall: { id: 'c1', name: 'depth', args: {} }, thoughtSignature: 'c2lnMQ==' }], {
      tokens: { input: 9, output: 1, cached: 0, total: 10 },
      toolCalls: [
        { id: 'c1', name: 'depth', args: {}, status: 'success', result: response('c1', 7), timestamp: 'x' },
      ],
    }),
    user('u2', response('c1', 7)),
    gemini('g2', '7 m'),
    { $set: { summary: 'Depth' } },
  );
  const items = await itemsOf(geminiCli, text);
  expect(placesOf(items)).toEqual([
    ['u0', null],
    ['u1', 'u0'],
    ['g1', 'u1'],
    [undefined, undefined],
    ['g2', 'g1'],
  ]);
  expect(callsIn(items)[0]).toMatchObject({
    answer: { tool_calls: [{ id: 'c1', thoughtSignature: 'c2lnMQ==' }] },
    usage: { input: 9, output: 1 },
  });
  expect(items.findLast(({ kind }) => kind === 'conversation')).toMatchObject({ title: 'Depth' });
  expect(namedIn(items)).toEqual({});
});

test('a rewind begins a branch, and a compressed conversation leaves out what it replaces', async () => {
  const text = lines(
    HEAD,
    user('u1', 'a'),
    gemini('g1', 'A'),
    user('u2', 'b'),
    gemini('g2', 'B'),
    { $rewindTo: 'u2' },
    user('u3', 'c'),
    { $rewindTo: 'nobody' },
    user('u4', 'd'),
    { $set: { messages: [user('sum', 'Summary.'), user('u4', 'd')] } },
    gemini('g4', 'D'),
    gemini('g1', 'again'),
    '{"id": "cut',
  ).replace(/"\{\\"id\\": \\"cut"$/, '{"id": "cut');
  const items = await itemsOf(geminiCli, text);
  expect(placesOf(items)).toEqual([
    ['u1', null],
    ['g1', 'u1'],
    ['u2', 'g1'],
    ['g2', 'u2'],
    ['u3', 'g1'],
    ['u4', null],
    ['sum', 'u4'],
    ['g4', 'sum'],
  ]);
  expect(items.find(({ kind }) => kind === 'compaction')).toEqual({ kind: 'compaction', keeps: ['u4'] });
  expect(namedIn(items)).toEqual({ W_PARENT_MISSING: 1, W_REPEATED: 1, W_LINE_DAMAGED: 1 });
});

test('prompts of a log and the contents of a checkpoint are read', async () => {
  const prompt = (sessionId: string, messageId: number) => ({
    sessionId,
    messageId,
    timestamp: '2026-09-01T10:00:02.000Z',
    type: 'user',
    message: 'Hi',
  });
  const log = await itemsOf(
    geminiCli,
    JSON.stringify([prompt('a', 0), prompt('b', 0), { ...prompt('b', 1), type: 'other' }]),
  );
  expect(log.filter(({ kind }) => kind === 'conversation')).toMatchObject([{ key: 'a' }, { key: 'b' }]);
  expect(namedIn(log)).toEqual({ 'log entry other': 1 });
  const checkpoint = {
    history: [{}, {}],
    clientHistory: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
    ],
    toolCall: { name: 'x' },
  };
  const items = await itemsOf(geminiCli, JSON.stringify(checkpoint));
  expect(callsIn(items)).toHaveLength(1);
  expect(namedIn(items)).toEqual({ 'field history': 2, 'field toolCall': 1 });
  expect(await isRecognised(geminiCli, '[{"role":"user","parts":[{"text":"x"}]}]')).toBe(false);
});

const count = fc.nat(1_000_000);
const turn = fc.record({
  said: fc.string({ maxLength: 20 }),
  thought: fc.boolean(),
  tokens: fc.record({ input: count, output: count, cached: count, thoughts: count, tool: count }),
  results: fc.array(fc.option(fc.string({ minLength: 1, maxLength: 9 }), { nil: null }), { maxLength: 3 }),
});

test('sessions that are made give the same calls, results and tokens, in one document and on lines', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.boolean(), async (turns, isLines) => {
      const messages = turns.flatMap(({ said, thought, tokens, results }, at) => [
        user(`u${at}`, `q${at}`),
        gemini(`g${at}`, said, {
          tokens: { ...tokens, total: 0 },
          thoughts: thought ? [{ subject: 's', description: 'd', timestamp: 'x' }] : [],
          toolCalls: results.map((result, index) => ({
            id: `c${at}.${index}`,
            name: 'depth',
            args: {},
            status: 'success',
            result: result === null ? null : response(`c${at}.${index}`, result),
          })),
        }),
      ]);
      const items = await itemsOf(
        geminiCli,
        isLines ? lines(HEAD, ...messages) : JSON.stringify({ ...HEAD, messages }),
      );
      expect(
        callsIn(items).map(({ usage, answer }) => [
          usage?.input,
          usage?.output,
          Array.isArray(answer?.['tool_calls']) ? answer['tool_calls'].length : 0,
        ]),
      ).toEqual(
        turns.map(({ tokens, results }) => [
          tokens.input + tokens.tool,
          tokens.output + tokens.thoughts,
          results.length,
        ]),
      );
      expect(
        messagesIn(items)
          .filter(({ role }) => role === 'tool')
          .map(({ messages: [message] }) => message?.['content']),
      ).toEqual(
        turns.flatMap(({ results }) =>
          results.flatMap((result) => (result === null ? [] : JSON.stringify({ output: result }))),
        ),
      );
    }),
  );
});

test('a damaged session gives items or a coded error', async () => {
  const call = { id: 'c1', name: 'depth', args: {}, status: 'success', result: response('c1', 7) };
  await survivesDamage(geminiCli, [
    HEAD,
    user('u1', [{ text: 'x' }]),
    gemini('g1', 'y', { toolCalls: [call], thoughts: [{ subject: 'a' }], tokens: { input: 1, output: 2 } }),
    { $rewindTo: 'u1' },
    { $set: { messages: [user('u3', 'x')] } },
  ]);
  await survivesDamage(geminiCli, [{ ...HEAD, messages: [user('u1', 'x'), gemini('g1', 'y')] }]);
});
