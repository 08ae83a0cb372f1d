import type { HistoryEvent } from '@stemma/events';
import { expect, test } from 'vitest';
import { decisionsAfter, NO_DECISIONS, removalsOf } from '../src/sizes/decisions.ts';

const inserted = (id: string, role: string, more: Record<string, unknown>): HistoryEvent => ({
  type: 'NodeInserted',
  parent: '^ah',
  node: {
    ...{ id, nodeType: 'cb', offset: 0, ttl: null, priority: 0, cycle: 1, created_at_ns: 0n },
    ...{ creation_index: 0, role, ...more },
  },
  expires: null,
});
const call = (id: string, callId: string, name: string): HistoryEvent =>
  inserted(id, 'assistant', { kind: 'call', content: { id: callId, function: { name, arguments: '{}' } } });
const result = (id: string, content: unknown, more: Record<string, unknown> = {}): HistoryEvent =>
  inserted(id, 'tool', { kind: 'result', content, ...more });

test('what follows a call says what it decided: its texts, its tools, and which of them failed', () => {
  const first = decisionsAfter(NO_DECISIONS, [
    inserted('a', 'assistant', { kind: 'text', content: 'I look.' }),
    call('b', '1', 'look'),
    call('c', '2', 'book'),
  ]);
  expect(first).toEqual({
    said: 1,
    summaries: 0,
    tools: [
      { id: '1', name: 'look', state: 'called' },
      { id: '2', name: 'book', state: 'called' },
    ],
  });
  const then = decisionsAfter(first, [
    result('d', 'Error: no seat', { data_tool_call_id: '2' }),
    result('e', 'found'),
    result('f', 'late', { data_tool_call_id: '9', data_name: 'other' }),
    inserted('g', 'system', { kind: 'summary', content: 'so far' }),
  ]);
  expect(then.summaries).toBe(1);
  expect(then.tools.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'look answered',
    'book failed',
    'other answered',
  ]);
});

test('what a person puts there is no decision of the model', () => {
  const injected: HistoryEvent = {
    ...{ type: 'InterventionRecorded', intervention: 'message_inject', notes: '', content: {} },
  };
  expect(decisionsAfter(NO_DECISIONS, [injected, call('b', '1', 'look')])).toEqual(NO_DECISIONS);
});

test('each removed node has what removed it', () => {
  expect([
    ...removalsOf([
      { type: 'NodeExpired', id: 'a' },
      { type: 'NodePruned', id: 'b', rule: 'max_blocks', rank: 0 },
    ]),
  ]).toEqual([
    ['a', 'expired'],
    ['b', 'pruned'],
  ]);
});
