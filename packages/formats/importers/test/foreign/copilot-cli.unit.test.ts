import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copilotCli } from '../../src/foreign/copilot-cli.ts';
import { callsIn, itemsOf, messagesIn, namedIn, survivesDamage } from './read-items.ts';

const event = (id: string, type: string, data: object) => ({
  type,
  data,
  id,
  timestamp: '2026-09-01T10:00:00.000Z',
  parentId: null,
});
const START = event('e0', 'session.start', {
  sessionId: 's',
  copilotVersion: '1.0.9',
  selectedModel: 'm',
  version: 1,
});
const request = (id: string) => ({
  toolCallId: id,
  name: 'view',
  arguments: { path: 'x' },
  type: 'function',
});
const lines = (...events: readonly object[]): string => events.map((each) => JSON.stringify(each)).join('\n');

test('each message of the assistant is a call; what an agent did stands in a conversation beside', async () => {
  const text = lines(
    START,
    event('e1', 'system.message', { role: 'system', content: 'You help.' }),
    event('e2', 'user.message', {
      content: 'How deep?',
      transformedContent: 'How deep? (now: 10)',
      attachments: [{}],
    }),
    event('e3', 'assistant.message', {
      messageId: 'm1',
      content: 'I look.',
      reasoningText: 'Ask.',
      reasoningOpaque: 'sig',
      toolRequests: [request('c1'), request('c2')],
      outputTokens: 9,
      model: 'm-2',
    }),
    event('e4', 'tool.execution_start', { toolCallId: 'c1' }),
    event('e5', 'assistant.message', { content: 'Inner.', parentToolCallId: 'c1' }),
    event('e6', 'tool.execution_complete', { toolCallId: 'c1', success: true, result: { content: '7' } }),
    event('e7', 'tool.execution_complete', { toolCallId: 'c2', success: false, error: { message: 'no' } }),
    event('e8', 'hook.start', {}),
    event('e9', 'abort', { reason: 'user' }),
    event('e9', 'abort', { reason: 'user' }),
    { type: 'x' },
  );
  const items = await itemsOf(copilotCli, `${text}\n{"type": "cut`);
  expect(items.filter(({ kind }) => kind === 'conversation')).toEqual([
    { kind: 'conversation', key: 's', version: '1.0.9' },
    { kind: 'conversation', key: 's/c1', sidechain: true, parent: { key: 's', toolCall: 'c1' } },
    { kind: 'conversation', key: 's', version: '1.0.9' },
  ]);
  expect(callsIn(items)).toMatchObject([
    {
      id: 'e3',
      after: 'e2',
      model: 'm-2',
      usage: { input: null, output: 9 },
      answer: {
        content: [
          { type: 'thinking', thinking: 'Ask.', signature: 'sig' },
          { type: 'text', text: 'I look.' },
        ],
        tool_calls: [{ id: 'c1', function: { name: 'view', arguments: '{"path":"x"}' } }, { id: 'c2' }],
      },
    },
    { id: 'e5', after: null, model: 'm', answer: { content: 'Inner.' } },
  ]);
  expect(
    messagesIn(items).map(({ after, messages: [message] }) => [
      after,
      message?.['content'],
      message?.['is_error'],
    ]),
  ).toEqual([
    [null, 'You help.', undefined],
    ['e1', 'How deep? (now: 10)', undefined],
    ['e3', '7', undefined],
    ['e6', 'no', true],
  ]);
  expect(namedIn(items)).toEqual({
    attachment: 1,
    'event hook.start': 1,
    W_REPEATED: 1,
    W_VALUE_UNREAD: 1,
    W_LINE_DAMAGED: 1,
  });
  expect(items.filter(({ kind }) => kind === 'count')).toHaveLength(1);
});

test('a rewind begins a branch, and a compacted conversation leaves out what it replaces', async () => {
  const items = await itemsOf(
    copilotCli,
    lines(
      START,
      event('u1', 'user.message', { content: 'a' }),
      event('a1', 'assistant.message', { content: 'A' }),
      event('t', 'assistant.turn_end', {}),
      event('u2', 'user.message', { content: 'b' }),
      event('r', 'session.snapshot_rewind', { upToEventId: 'u2', eventsRemoved: 1 }),
      event('u3', 'user.message', { content: 'c' }),
      event('c', 'session.compaction_complete', { success: true, summaryContent: 'So far.' }),
      event('x', 'session.snapshot_rewind', { upToEventId: 'nobody' }),
      event('a3', 'assistant.message', { content: 'C' }),
    ),
  );
  expect(
    items.flatMap((item): readonly unknown[] =>
      item.kind === 'message' || item.kind === 'call'
        ? [[item.id, item.after]]
        : item.kind === 'compaction'
          ? ['compaction']
          : [],
    ),
  ).toEqual([['u1', null], ['a1', 'u1'], ['u2', 'a1'], ['u3', 'a1'], 'compaction', ['c', 'u3'], ['a3', 'c']]);
  expect(namedIn(items)).toEqual({ W_PARENT_MISSING: 1 });
});

test('sessions that are made give the same calls, results and tokens', async () => {
  const turn = fc.record({
    said: fc.string({ maxLength: 9 }),
    results: fc.array(fc.string({ maxLength: 9 }), { maxLength: 3 }),
    tokens: fc.nat(1e6),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), async (turns) => {
      const events = turns.flatMap(({ said, results, tokens }, at) => [
        event(`u${at}`, 'user.message', { content: 'q' }),
        event(`a${at}`, 'assistant.message', {
          content: said,
          outputTokens: tokens,
          toolRequests: results.map((_result, index) => request(`c${at}.${index}`)),
        }),
        ...results.map((content, index) =>
          event(`t${at}.${index}`, 'tool.execution_complete', {
            toolCallId: `c${at}.${index}`,
            success: true,
            result: { content },
          }),
        ),
      ]);
      const items = await itemsOf(copilotCli, lines(START, ...events));
      expect(
        callsIn(items).map(({ answer, usage }) => [
          Array.isArray(answer?.['tool_calls']) ? answer['tool_calls'].length : 0,
          usage?.output,
        ]),
      ).toEqual(turns.map(({ results, tokens }) => [results.length, tokens]));
      expect(
        messagesIn(items)
          .filter(({ role }) => role === 'tool')
          .map(({ messages: [message] }) => message?.['content']),
      ).toEqual(turns.flatMap(({ results }) => results));
    }),
  );
});

test('a damaged session gives items or a coded error', async () => {
  await survivesDamage(copilotCli, [
    START,
    event('u', 'user.message', { content: 'a', attachments: [] }),
    event('a', 'assistant.message', { content: 'A', toolRequests: [request('c')] }),
    event('t', 'tool.execution_complete', { toolCallId: 'c', result: { content: '7' } }),
    event('r', 'session.snapshot_rewind', { upToEventId: 'u' }),
  ]);
});
