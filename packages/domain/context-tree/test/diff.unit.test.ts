import { diffTrees } from '../src/index.ts';
import { expect, test } from 'vitest';
import { block, box, COMMIT, started } from '@stemma/test-kit';

test(
  'a diff has exactly the keys added, removed and changed, and compares nodes by id alone',
  {
    tags: [
      'context-tree§7:shape',
      'PACT-05§4.1',
      'PACT-05§4.3',
      'PACT-05§6.6',
      'PACT-06§4.1',
      'PACT-06§4.3',
      'PACT-06§7.3',
    ],
  },
  () => {
    const session = started();
    const { seq } = session.submit(block('goes', { content: 'same' }), block('stays'), block('changes'));
    session.submit({ op: 'remove', id: 'goes' }, block('comes', { content: 'same' }));
    session.submit({ op: 'replace', id: 'changes', set: { content: 'new' } });
    expect(session.diff(seq, seq + 2)).toEqual({
      added: ['comes'],
      removed: ['goes'],
      changed: [{ id: 'changes', fields: ['content_hash'] }],
    });
    expect(session.diff(seq, seq)).toEqual({ added: [], removed: [], changed: [] });
  },
);

test(
  'a diff shows a removal and an insertion in the head, also when the positions are swapped',
  { tags: ['PACT-05§6.10'] },
  () => {
    const session = started();
    const { seq } = session.submit(block('a', { content: 'x' }));
    session.submit({ op: 'remove', id: 'a' }, block('b', { content: 'x', offset: 1 }));
    expect(session.diff(seq, seq + 1)).toEqual({ added: ['b'], removed: ['a'], changed: [] });
  },
);

test(
  'a diff lists changes of headers, parent and content hash; it shows data_ and content_ of blocks as content_hash, ageing as ttl, and never depth',
  { tags: ['context-tree§7:changed', 'PACT-05§4.2', 'PACT-05§6.7', 'PACT-06§4.2'] },
  () => {
    const session = started();
    session.submit(
      block('text'),
      block('data', { data_x: 1 }),
      block('moved'),
      block('aged', { ttl: 5 }),
      box('shelf', [], { under: '^sys', data_s: 1 }),
    );
    session.submit(COMMIT);
    const { seq } = session.submit(block('open'), block('open data', { content_x: 1 }), block('to shelf'));
    session.submit(
      { op: 'replace', id: 'open', set: { content: null } },
      { op: 'replace', id: 'open data', set: { content_x: 2 } },
      { op: 'replace', id: 'shelf', set: { data_s: 2 } },
      { op: 'move', id: 'to shelf', parent: 'shelf' },
      { op: 'priorities', priorities: [{ id: 'text', priority: 9 }] },
    );
    const last = session.submit({ op: 'commit', turn_id: 't' });
    expect(session.diff(seq, last.seq)).toEqual({
      added: ['t'],
      removed: [],
      changed: [
        { id: 'shelf', fields: ['data_s'] },
        { id: 'to shelf', fields: ['parent'] },
        { id: 'text', fields: ['priority'] },
        { id: 'aged', fields: ['ttl'] },
        { id: 'open', fields: ['content_hash', 'parent'] },
        { id: 'open data', fields: ['content_hash', 'parent'] },
      ],
    });
  },
);

test(
  'a diff lists added and changed nodes in the order of the newer tree, and removed nodes in the order of the older',
  { tags: ['context-tree§7:order', 'PACT-05§4.4', 'PACT-05§6.8'] },
  () => {
    const session = started();
    session.submit(
      block('z'),
      block('y', { offset: -1 }),
      block('x', { under: '^sys' }),
      block('k', { offset: 2 }),
    );
    const { seq } = session.submit(block('j', { offset: -5 }));
    session.submit({ op: 'remove', id: 'z' }, { op: 'remove', id: 'y' }, { op: 'remove', id: 'x' });
    session.submit(block('c', { offset: 9 }), block('b'), block('a', { under: '^sys' }));
    session.submit(
      { op: 'replace', id: 'k', set: { content: 1 } },
      { op: 'replace', id: 'j', set: { content: 1 } },
    );
    expect(session.diff(seq, seq + 3)).toEqual({
      added: ['a', 'b', 'c'],
      removed: ['x', 'y', 'z'],
      changed: [
        { id: 'j', fields: ['content_hash'] },
        { id: 'k', fields: ['content_hash'] },
      ],
    });
  },
);

test(
  'a diff restricted to some ids is the full diff without the other ids',
  { tags: ['context-tree§7:shape'] },
  () => {
    const session = started();
    const { seq } = session.submit(block('a'), block('b'));
    session.submit({ op: 'remove', id: 'a' }, { op: 'remove', id: 'b' }, block('c'), block('d'));
    const [older, newer] = [session.tree(0, seq), session.tree(0, seq + 1)];
    expect(diffTrees(older, newer, session.history.payload, new Set(['b', 'd']))).toEqual({
      added: ['d'],
      removed: ['b'],
      changed: [],
    });
  },
);
