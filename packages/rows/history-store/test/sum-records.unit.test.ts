import type { Headers, NodeRecord } from '@stemma/context-tree';
import { expect, test } from 'vitest';
import { labelPosition } from '../src/index.ts';
import { numberOfNode } from '../src/sum-records.ts';

const HEADERS: Headers = {
  id: 'n',
  nodeType: 'cb',
  offset: 1,
  ttl: 2,
  priority: 3,
  cycle: 4,
  created_at_ns: 5n,
  creation_index: 6,
  role: 'user',
  kind: 'text',
  key: 'k',
  removable: true,
  refs: ['a'],
  provenance: 'p',
};

const record = (headers: Partial<Headers> = {}, more: Partial<NodeRecord> = {}): NodeRecord => ({
  headers: { ...HEADERS, ...headers },
  location: { kind: 'turn', cycle: 7, ordinal: 0 },
  parent: null,
  expires: 8,
  payload: { seq: 9, index: 10 },
  ...more,
});

test.each<[string, NodeRecord]>([
  ['id', record({ id: 'm' })],
  ['type', record({ nodeType: 'cb:x' })],
  ['offset', record({ offset: 2 })],
  ['ttl', record({ ttl: 3 })],
  ['ttl, which is none,', record({ ttl: null })],
  ['priority', record({ priority: 4 })],
  ['priority, a fraction,', record({ priority: 3.5 })],
  ['creation index', record({ creation_index: 7 })],
  ['role', record({ role: 'assistant' })],
  ['kind', record({ kind: 'image' })],
  ['kind, which is null,', record({ kind: null })],
  ['key', record({ key: 'other' })],
  ['removable', record({ removable: false })],
  ['refs', record({ refs: ['b'] })],
  ['provenance', record({ provenance: 'q' })],
  ['cycle of its location', record({}, { location: { kind: 'turn', cycle: 8, ordinal: 0 } })],
  ['ordinal of its location', record({}, { location: { kind: 'turn', cycle: 7, ordinal: 1 } })],
  ['region', record({}, { location: { kind: 'sys', number: 0 } })],
  ['parent', record({}, { parent: 'box' })],
  ['expiry', record({}, { expires: 9 })],
  ['expiry, which is none,', record({}, { expires: null })],
  ['event', record({}, { payload: { seq: 9, index: 11 } })],
])('a record whose %s differs has another number in the sum of its position', (_what, other) => {
  expect(numberOfNode(record())).toBe(numberOfNode(record()));
  expect(numberOfNode(other)).not.toBe(numberOfNode(record()));
});

test(
  'a position before the first commit has no cycle, an imported snapshot of cycle 0 has cycle 0',
  { tags: ['context-tree§5:positions'] },
  () => {
    const at = { history: 'h', branchId: 0, seq: 0, cycle: 0, main: 0 };
    expect(labelPosition({ ...at, committed: false })).toMatchObject({ cycle: null, label: '@s0' });
    expect(labelPosition({ ...at, committed: true })).toMatchObject({ cycle: 0, label: '@c0' });
  },
);
