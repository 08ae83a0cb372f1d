import { expect, test } from 'vitest';
import {
  block,
  box,
  codeOf,
  COMMIT,
  exportedNodes,
  imported,
  newSession,
  nodePlacements,
  refused,
  started,
} from '@stemma/test-kit';

const REQUIRED = [
  'created_at_iso',
  'created_at_ns',
  'creation_index',
  'cycle',
  'id',
  'nodeType',
  'offset',
  'priority',
  'ttl',
];

test(
  'every node of an export has all required headers: regions, turns, containers, blocks',
  { tags: ['context-tree§2:required-headers', 'PACT-06§2.1', 'PACT-06§7.1'] },
  () => {
    const session = started();
    session.submit(block('rule', { under: '^sys' }), box('core', ['said']), COMMIT);
    session.submit(block('open'));
    const nodes = exportedNodes(session.export());
    expect(nodes.map(({ id }) => id)).toEqual([
      'root',
      'sys',
      'rule',
      'seq',
      't:0:1',
      'core',
      'said',
      'ah',
      'open',
    ]);
    for (const node of nodes) expect(Object.keys(node)).toEqual(expect.arrayContaining(REQUIRED));
  },
);

test(
  'an export returns optional headers as they were given, and none for a block that has none',
  { tags: ['PACT-06§2.2', 'context-tree§2:required-headers'] },
  () => {
    const optional = {
      role: 'tool',
      kind: 'result',
      provenance: 'model:x',
      key: 'doc',
      refs: ['plain'],
      data_a: { b: [1] },
      content_html: '<p>',
    };
    const session = started();
    session.submit(block('plain'), block('full', optional));
    const [plain, full] = exportedNodes(session.export()).slice(-2);
    expect(full).toMatchObject(optional);
    expect(Object.keys(plain ?? {}).sort((a, b) => (a < b ? -1 : 1))).toEqual(
      ['content', ...REQUIRED].sort((a, b) => (a < b ? -1 : 1)),
    );
  },
);

test(
  'a header that an import lacks gets its default: offset, ttl, priority, cycle, time, and the place in the array',
  { tags: ['context-tree§2:defaults'] },
  () => {
    const bare = (id: string, more: object = {}): object => ({ id, nodeType: 'cb', ...more });
    const session = imported(
      {
        id: 'r',
        children: [{ id: 'h', nodeType: '^ah', children: [bare('a'), bare('b', { ttl: 3 }), bare('c')] }],
      },
      7,
    );
    const plain = { nodeType: 'cb', offset: 0, priority: 0, cycle: 7, created_at_ns: 0n };
    expect(['a', 'b', 'c'].map((id) => session.headers(id))).toEqual([
      { id: 'a', ...plain, ttl: null, creation_index: 0 },
      { id: 'b', ...plain, ttl: 3, creation_index: 1 },
      { id: 'c', ...plain, ttl: null, creation_index: 2 },
    ]);
  },
);

test(
  'an id is used once in a history, across all branches and also after its node is gone',
  { tags: ['context-tree§2:ids'] },
  () => {
    const session = started();
    session.submit(block('a'), block('A'), COMMIT);
    const fork = session.history.fork(0, 1, 'fork');
    expect(refused(session, block('a'))).toBe('E_NODE_EXISTS');
    session.submit(block('gone'), { op: 'remove', id: 'gone' });
    expect(refused(session, block('gone'))).toBe('E_NODE_EXISTS');
    session.submit(block('here'));
    expect(codeOf(() => session.on(fork, block('here')))).toBe('E_NODE_EXISTS');
    expect(refused(session, { op: 'commit', turn_id: 'a' })).toBe('E_NODE_EXISTS');
    const nameless = { op: 'insert', parent: '^ah', node: { nodeType: 'cb' } } as const;
    session.submit(nameless, COMMIT);
    session.on(fork, nameless, COMMIT);
    const [mine, other] = [0, fork].map((branchId) =>
      session.tree(branchId).ids.filter((id) => /^[nt]:/.test(id)),
    );
    expect([mine, other]).toEqual([
      ['t:0:1', 't:0:2', 'n:0:2:2'],
      ['t:0:1', `t:${fork}:2`, `n:${fork}:2:0`],
    ]);
  },
);

test(
  'time is the clock or the newest of the branch + 1, one value for a command, and never runs backwards',
  { tags: ['context-tree§2:time'] },
  () => {
    const session = started();
    const at = (clock: bigint, ...ids: string[]): bigint[] => {
      session.history.submit(
        0,
        ids.map((id) => block(id)),
        clock,
      );
      return ids.map((id) => session.headers(id).created_at_ns);
    };
    expect([at(100n, 'a', 'b'), at(50n, 'c'), at(100n, 'd'), at(500n, 'e', 'f')]).toEqual([
      [100n, 100n],
      [101n],
      [102n],
      [500n, 500n],
    ]);
  },
);

test(
  'nanoseconds of 19 digits, one apart, survive import, frame, export, order and comparison',
  { tags: ['context-tree§2:nanoseconds'] },
  () => {
    const late = '1724670000000000001';
    const root = `{"id":"r","children":[{"id":"s","nodeType":"^sys","children":[
    {"id":"b","nodeType":"cb","created_at_ns":${late}},{"id":"a","nodeType":"cb","created_at_ns":1724670000000000000}]}]}`;
    const session = newSession({
      op: 'import',
      name: null,
      export: `{"spec_version":"PACT/0.1.0","cycle":1,"root":${root}}`,
    });
    expect(nodePlacements(session.tree()).filter(([, parent]) => parent === 's')).toEqual([
      ['a', 's', -1],
      ['b', 's', -1],
    ]);
    expect(session.export()).toContain(`"created_at_ns":${late}`);
    session.submit(block('next'));
    expect(session.headers('next').created_at_ns).toBe(1724670000000000002n);
  },
);

test.each([
  'id',
  'nodeType',
  'offset',
  'ttl',
  'priority',
  'cycle',
  'created_at_ns',
  'created_at_iso',
  'creation_index',
  'role',
  'kind',
  'key',
  'refs',
  'provenance',
  'content_hash',
  'unknown',
])('replace never changes %s', { tags: ['context-tree§2:stability', 'PACT-06§2.4'] }, (field) => {
  const session = started();
  session.submit(block('a'));
  expect(refused(session, { op: 'replace', id: 'a', set: { [field]: 1 } })).toBe('E_HEADER_IMMUTABLE');
});

test(
  'replace changes content and namespaced attributes, move the parent alone, and every other header stays as created',
  { tags: ['context-tree§2:stability', 'PACT-06§2.3', 'PACT-06§2.4'] },
  () => {
    const session = started();
    session.submit(
      block('a', { role: 'user', key: 'k', data_x: 1, ttl: 2 }),
      box('b', [], { under: '^sys' }),
    );
    const before = session.headers('a');
    session.submit({ op: 'replace', id: 'a', set: { content: 'new', data_x: 2, content_y: 3 } });
    session.submit({ op: 'move', id: 'a', parent: 'b' });
    expect(session.headers('a')).toEqual(before);
    expect(refused(session, { op: 'move', id: 'a', parent: '^ah', offset: 1 })).toBe('E_HEADER_IMMUTABLE');
    expect(exportedNodes(session.export()).find(({ id }) => id === 'a')).toMatchObject({
      content: 'new',
      data_x: 2,
      content_y: 3,
    });
    session.submit(COMMIT);
    session.submit(COMMIT);
    expect(session.headers('a')).toEqual(before);
  },
);

test(
  'siblings are ordered by offset, time, creation_index, then id by code point, and by no other attribute',
  { tags: ['context-tree§2:sibling-order'] },
  () => {
    const child = (id: string, offset: number, time: number, index: number, more: object = {}): object => ({
      id,
      nodeType: 'cb',
      offset,
      created_at_ns: time,
      creation_index: index,
      ...more,
    });
    const session = imported({
      id: 'r',
      children: [
        {
          id: 's',
          nodeType: '^sys',
          children: [
            child('😀', 0, 5, 5, { priority: -1 }),
            child('\ue000', 0, 5, 5, { data_a: 0 }),
            child('a', 0, 5, 5, { key: 'zzz' }),
            child('B', 0, 5, 5),
            child('first by index', 0, 5, 4, { content: 'z' }),
            child('first by time', 0, 4, 9),
            child('first by offset', -1, 9, 9),
          ],
        },
      ],
    });
    expect(nodePlacements(session.tree()).flatMap(([id, parent]) => (parent === 's' ? [id] : []))).toEqual([
      'first by offset',
      'first by time',
      'first by index',
      'B',
      'a',
      '\ue000',
      '😀',
    ]);
  },
);
