import { canonicalJson, sha256Hex } from '@stemma/canonical';
import {
  block,
  box,
  codeOf,
  COMMIT,
  exportOf,
  imported,
  newSession,
  refused,
  started,
} from '@stemma/test-kit';
import { expect, test } from 'vitest';
import {
  contentHash,
  hashFlat,
  kindOfType,
  NODE_KIND,
  sumChanges,
  threadParts,
  type RecordChange,
} from '../src/index.ts';
import { shownTtl } from '../src/lifetime.ts';

test(
  'a content hash covers content, kind, role and attributes, where an absent value counts as the empty text and null as null',
  { tags: ['context-tree§2'] },
  () => {
    for (const role of [undefined, null, '', 'user'])
      for (const kind of [undefined, null, '', 'note']) {
        const given = { ...(role === undefined ? {} : { role }), ...(kind === undefined ? {} : { kind }) };
        const hashed = { content: 'x', data_a: 1, role: role === undefined ? '' : role };
        expect(contentHash(given, { content: 'x', data_a: 1, other: 2 })).toBe(
          sha256Hex(canonicalJson({ ...hashed, kind: kind === undefined ? '' : kind })),
        );
      }
  },
);

test(
  'the name before the first colon of a type decides its kind, and both sides have one',
  { tags: ['context-tree§10.1'] },
  () => {
    expect(['mc:a:b', 'mt:a:b', 'cb:mc:x', 'x:mc:y', 'mc:'].map(kindOfType)).toEqual([
      NODE_KIND.container,
      NODE_KIND.turn,
      NODE_KIND.block,
      NODE_KIND.block,
      NODE_KIND.block,
    ]);
  },
);

test(
  'a diff lists an attribute that changes from a plain value to an object or back',
  { tags: ['context-tree§7:changed'] },
  () => {
    const values = [null, 1, 'x', [1], { a: 1 }, { a: 2 }];
    for (const older of values)
      for (const newer of values) {
        const session = started();
        const { seq } = session.submit({
          op: 'insert',
          parent: '^sys',
          node: { id: 'm', nodeType: 'mc', data_x: older },
        });
        const last = session.submit({ op: 'replace', id: 'm', set: { data_x: newer } });
        const isSame = newer === null ? older === null : JSON.stringify(older) === JSON.stringify(newer);
        if (newer !== null && older !== null)
          expect(session.diff(seq, last.seq).changed).toEqual(
            isSame ? [] : [{ id: 'm', fields: ['data_x'] }],
          );
      }
  },
);

test(
  'a diff lists an attribute that only one side has, whatever its value',
  { tags: ['context-tree§7:changed'] },
  () => {
    for (const value of [1, 'x', [1], { a: 1 }]) {
      const session = started();
      const { seq } = session.submit(box('m', [], { under: '^sys' }));
      session.submit({ op: 'replace', id: 'm', set: { data_x: value } });
      for (const [from, to] of [
        [seq, seq + 1],
        [seq + 1, seq],
      ] as const)
        expect(session.diff(from, to).changed).toEqual([{ id: 'm', fields: ['data_x'] }]);
    }
  },
);

test('removable is true, false or null, and nothing else', { tags: ['context-tree§2'] }, () => {
  for (const removable of [true, false, null])
    expect(
      refused(started(), { op: 'insert', parent: '^sys', node: { id: 'm', nodeType: 'mc', removable } }),
    ).toBe('taken');
  for (const removable of ['yes', 1, 0, {}, []])
    expect(
      refused(started(), { op: 'insert', parent: '^sys', node: { id: 'm', nodeType: 'mc', removable } }),
    ).toBe('E_NODE_INVALID');
});

test(
  'an import accepts times up to 2^63 − 1 nanoseconds and refuses later ones',
  { tags: ['context-tree§8:codes'] },
  () => {
    const at = (time: bigint): string => {
      const node = { id: 'x', nodeType: 'cb', created_at_ns: 0 };
      const text = exportOf({ id: 'r', children: [{ id: 's', nodeType: '^sys', children: [node] }] });
      const timed = text.replace('"created_at_ns":0', `"created_at_ns":${time}`);
      return codeOf(() => newSession({ op: 'import', name: null, export: timed }));
    };
    expect(at(2n ** 63n - 1n)).toBe('taken');
    expect(at(2n ** 63n)).not.toBe('taken');
  },
);

test(
  'the concatenated parts of a thread are its text, and each part names the value that it holds',
  { tags: ['context-tree§4:provider-thread'] },
  () => {
    const session = started();
    session.submit(
      block('s', { under: '^sys' }),
      block('a', { role: 'user', kind: 'k' }),
      COMMIT,
      block('b'),
    );
    const { text, parts } = threadParts(session.tree(), session.history.payload);
    expect(text).toBe(session.thread());
    expect(parts.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text);
    parts.forEach(({ from, to }, i) => {
      expect([from, to > from]).toEqual([parts[i - 1]?.to ?? 0, true]);
    });
    const values = (name: string): unknown[] =>
      parts.filter(({ part }) => part === name).map(({ from, to }) => JSON.parse(text.slice(from, to)));
    const messages = JSON.parse(text) as Record<string, unknown>[];
    for (const name of ['content', 'id', 'kind', 'role'])
      expect(values(name)).toEqual(messages.map((each) => each[name]));
    expect(
      parts.filter(({ part }) => part === 'separator').map(({ from, to }) => text.slice(from, to)),
    ).toEqual([',', ',']);
  },
);

test(
  'several changes of a node become one, from its first state to its last; a node that was added and removed again is left out',
  { tags: ['context-tree§7:shape'] },
  () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ headers: { id } })) as never[];
    const change = (node: string, before: unknown, after: unknown): RecordChange =>
      ({ node, before, after }) as RecordChange;
    expect(
      sumChanges([
        change('x', a, b),
        change('y', undefined, a),
        change('z', a, undefined),
        change('x', b, c),
        change('y', a, undefined),
      ]),
    ).toEqual([change('x', a, c), change('z', a, undefined)]);
  },
);

test(
  'an import replaces root and regions of its own ids only, and a sealed head leaves its attributes to the next',
  { tags: ['context-tree§3.1'] },
  () => {
    const session = imported({
      id: 'r',
      children: [
        { id: 's', nodeType: '^sys', children: [] },
        { id: 'q', nodeType: '^seq', children: [] },
        { id: 'h', nodeType: '^ah', data_h: 7, children: [{ id: 'x', nodeType: 'cb' }] },
      ],
    });
    const before = session.submit(COMMIT);
    expect(JSON.parse(session.export()).root.children[2]).toMatchObject({ id: 'h', data_h: 7, children: [] });
    const { tree } = before.state;
    const { headers } = tree.root.record;
    expect(codeOf(() => tree.setFixed('root', { ...headers, id: 'other' }, { seq: 0, index: 0 }, {}))).toBe(
      'E_HISTORY_DEFECTIVE',
    );
  },
);

test('a ttl is shown from the one given down to 0', { tags: ['context-tree§3.1'] }, () => {
  expect([1, 2, 3, 4, 5, 6].map((cycle) => shownTtl(2, 5, cycle))).toEqual([2, 2, 1, 0, 0, 0]);
  expect([shownTtl(null, 5, 1), shownTtl(7, null, 1)]).toEqual([null, 7]);
});

test(
  'an imported turn that will expire is hashed with the cycle in which it ends, both step by step and from scratch',
  { tags: ['snapshots:tree-hash'] },
  () => {
    const turn = { id: 't', nodeType: 'mt', ttl: 2, children: [{ id: 'x', nodeType: 'cb' }] };
    const session = imported({ id: 'r', children: [{ id: 'q', nodeType: '^seq', children: [turn] }] });
    for (let i = 0; i < 3; i++) {
      const { snapshot } = session.submit(COMMIT);
      const { treeHash } = hashFlat(session.tree(), session.history.payload, 'full');
      expect(treeHash).toEqual(snapshot?.treeHash);
    }
    expect(session.tree().indexOf('t')).toBeUndefined();
  },
);
