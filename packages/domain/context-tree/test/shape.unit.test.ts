import { expect, test } from 'vitest';
import {
  block,
  box,
  codeOf,
  COMMIT,
  imported,
  newSession,
  nodePlacements,
  refused,
  started,
} from '@stemma/test-kit';

test(
  'a history has one root and three regions that no command removes, moves or replaces, and the head keeps its id at every commit',
  { tags: ['context-tree§1:regions'] },
  () => {
    const session = newSession({ op: 'start', name: null, ids: { root: 'r', sys: 's', seq: 'q', ah: 'h' } });
    expect(session.tree().ids).toEqual(['r', 's', 'q', 'h']);
    for (const id of ['r', 's', 'q', 'h']) {
      expect(refused(session, { op: 'remove', id })).toBe('E_PLACEMENT');
      expect(refused(session, { op: 'move', id, parent: '^sys' })).toBe('E_PLACEMENT');
      expect(refused(session, { op: 'replace', id, set: { data_x: 1 } })).toBe('E_PLACEMENT');
    }
    for (let cycle = 1; cycle <= 3; cycle++) {
      session.submit(block(`b${cycle}`), COMMIT);
      expect(session.tree().ids.filter((id) => 'rsqh'.includes(id))).toEqual(['r', 's', 'q', 'h']);
      expect(nodePlacements(session.tree()).at(-1)).toEqual(['h', 'r', null]);
    }
  },
);

test(
  'a user type keeps its name and has the canonical type of its prefix: mc and mt have children, everything else is a block',
  { tags: ['context-tree§1:node-types', 'context-tree§10.1'] },
  () => {
    const session = started();
    session.submit(
      block('summary', { nodeType: 'cb:summary' }),
      block('note', { nodeType: 'custom:note' }),
      box('plan', ['inside'], { nodeType: 'mc:plan', under: '^sys' }),
      COMMIT,
    );
    const kinds = (type: string): string =>
      refused(session, box('x', ['y'], { nodeType: type, under: '^sys' }));
    expect(['summary', 'note', 'plan'].map((id) => session.headers(id).nodeType)).toEqual([
      'cb:summary',
      'custom:note',
      'mc:plan',
    ]);
    expect(nodePlacements(session.tree()).filter(([, parent]) => parent === 'plan')).toEqual([
      ['inside', 'plan', -1],
    ]);
    // A block holds nothing, whatever its name: neither `custom:mc` nor `cb:mc` is a container.
    expect([kinds('custom:mc'), kinds('cb:mc'), kinds('mt:turn')]).toEqual([
      'E_NODE_INVALID',
      'E_NODE_INVALID',
      'E_PLACEMENT',
    ]);
    expect(session.thread()).toContain('"content":"note"');
  },
);

test(
  'a turn reads pre-context, core, post-context, whatever the order of insertion',
  { tags: ['context-tree§1:core'] },
  () => {
    const session = started();
    session.submit(
      block('after', { offset: 2 }),
      box('core', ['said']),
      block('before', { offset: -1 }),
      block('long before', { offset: -7 }),
      { op: 'commit', turn_id: 't' },
    );
    expect(nodePlacements(session.tree()).slice(3, -1)).toEqual([
      ['t', 'seq', 1],
      ['long before', 't', 1],
      ['before', 't', 1],
      ['core', 't', 1],
      ['said', 'core', 1],
      ['after', 't', 1],
    ]);
  },
);

test(
  'an insertion of a second core is refused, in the head as in a new subtree, so that no commit finds one',
  { tags: ['context-tree§1:core', 'context-tree§10.3', 'context-tree§10.4'] },
  () => {
    const withBox = started();
    withBox.submit(box('core', ['a']));
    expect(refused(withBox, box('second', ['b']))).toBe('E_TWO_CORES');
    expect(refused(withBox, block('beside', { offset: 0 }))).toBe('E_TWO_CORES');
    expect(refused(withBox, block('before', { offset: -1 }))).toBe('taken');
    const withBlocks = started();
    withBlocks.submit(block('a'), block('b'));
    expect(refused(withBlocks, box('core', []))).toBe('E_TWO_CORES');
    withBlocks.submit(box('elsewhere', ['c'], { under: '^sys' }));
    expect(refused(withBlocks, { op: 'move', id: 'elsewhere', parent: '^ah' })).toBe('E_TWO_CORES');
    for (const session of [withBox, withBlocks]) expect(refused(session, COMMIT)).toBe('taken');
  },
);

test(
  'an implicit core adds no node: a node at offset 0 is a child of the turn in rows and export',
  { tags: ['context-tree§1:implicit-core'] },
  () => {
    const session = started();
    session.submit(block('a'), block('b'), { op: 'commit', turn_id: 't' });
    expect(nodePlacements(session.tree()).slice(3, -1)).toEqual([
      ['t', 'seq', 1],
      ['a', 't', 1],
      ['b', 't', 1],
    ]);
    expect(session.export()).not.toContain('"mc"');
  },
);

test(
  'depth is -1 under ^sys, 0 in the head, 1 in the newest turn and so on; root and regions have none, and an emptied turn still counts',
  { tags: ['context-tree§1:depth'] },
  () => {
    const session = started();
    session.submit(block('rule', { under: '^sys' }), block('old'), { op: 'commit', turn_id: 'first' });
    session.submit(block('short', { ttl: 1 }), { op: 'commit', turn_id: 'second' });
    session.submit(COMMIT);
    session.submit(COMMIT);
    session.submit(block('open'));
    expect(nodePlacements(session.tree())).toEqual([
      ['root', null, null],
      ['sys', 'root', null],
      ['rule', 'sys', -1],
      ['seq', 'root', null],
      ['first', 'seq', 2],
      ['old', 'first', 2],
      ['second', 'seq', 1],
      ['ah', 'root', null],
      ['open', 'ah', 0],
    ]);
  },
);

test.each([
  ['a turn under ^ah', { op: 'insert', parent: '^ah', node: { nodeType: 'mt' } }, 'E_PLACEMENT'],
  ['a turn under ^seq', { op: 'insert', parent: 'seq', node: { nodeType: 'mt' } }, 'E_PLACEMENT'],
  ['a block under ^seq', block('x', { under: 'seq' }), 'E_PLACEMENT'],
  ['a node under ^root', block('x', { under: 'root' }), 'E_PLACEMENT'],
  ['a core of offset 1', box('x', [], { offset: 1 }), 'E_PLACEMENT'],
  ['a container with content', box('x', [], { content: 'y' }), 'E_NODE_INVALID'],
  ['content for a container', { op: 'replace', id: 'free', set: { content: 1 } }, 'E_NODE_INVALID'],
  ['a block with children', block('x', { children: [] }), 'E_NODE_INVALID'],
  ['a block that is removable', block('x', { removable: true }), 'E_NODE_INVALID'],
  ['a node under a block', block('x', { under: 'leaf' }), 'E_PLACEMENT'],
  ['a container in a container', box('x', ['y'], { under: 'free' }), 'taken'],
  ['a container under ^sys, at any offset', box('x', ['y'], { under: '^sys', offset: 4 }), 'taken'],
] as const)(
  '%s is refused or taken as the shape of a tree says',
  { tags: ['context-tree§10.2'] },
  (_what, step, code) => {
    const session = started();
    session.submit(box('free', [], { under: '^sys' }), block('leaf', { under: '^sys' }));
    expect(refused(session, step as never)).toBe(code);
  },
);

test(
  'an import that no commands could have made is refused: a turn outside of ^seq, a core at an offset other than 0',
  { tags: ['context-tree§10.2'] },
  () => {
    const turn = { id: 't', nodeType: 'mt', children: [] };
    const wrong = (region: object): string => codeOf(() => imported({ id: 'r', children: [region] }));
    expect([
      wrong({ id: 's', nodeType: '^sys', children: [turn] }),
      wrong({ id: 'q', nodeType: '^seq', children: [{ id: 'b', nodeType: 'cb' }] }),
      wrong({ id: 'h', nodeType: '^ah', children: [{ id: 'm', nodeType: 'mc', offset: 1, children: [] }] }),
      wrong({ id: 'q', nodeType: '^seq', children: [{ ...turn, content: 'x' }] }),
      wrong({ id: 'q', nodeType: '^seq', children: [turn] }),
    ]).toEqual(['E_PLACEMENT', 'E_PLACEMENT', 'E_PLACEMENT', 'E_EXPORT_INVALID', 'taken']);
  },
);

test(
  'root and regions begin with fixed headers, and keep their order whatever their headers say',
  { tags: ['context-tree§10.5'] },
  () => {
    const fresh = started();
    const plain = { offset: 0, ttl: null, priority: 0, cycle: 0, created_at_ns: 0n };
    expect(['root', 'sys', 'seq', 'ah'].map((id) => fresh.headers(id))).toEqual([
      { id: 'root', nodeType: '^root', ...plain, creation_index: 0 },
      { id: 'sys', nodeType: '^sys', ...plain, creation_index: 0 },
      { id: 'seq', nodeType: '^seq', ...plain, creation_index: 1 },
      { id: 'ah', nodeType: '^ah', ...plain, creation_index: 2 },
    ]);
    const odd = imported({
      id: 'r',
      children: [
        { id: 'h', nodeType: '^ah', offset: -9, children: [] },
        { id: 'q', nodeType: '^seq', created_at_ns: 5, children: [] },
        { id: 's', nodeType: '^sys', offset: 3, priority: 7, children: [] },
      ],
    });
    expect(odd.tree().ids).toEqual(['r', 's', 'q', 'h']);
  },
);
