import { toHex } from '@stemma/canonical';
import { block, codeOf, COMMIT, started, type TestSession } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import type { Tree } from '../src/index.ts';

const treeOf = ({ history }: TestSession): Tree => {
  const branch = history.state.loadedBranches.get(0);
  if (branch === undefined) throw new Error('the branch is not loaded');
  return branch.tree;
};

const core = (id: string, parent: string, ...children: object[]) =>
  ({ op: 'insert', parent, node: { id, nodeType: 'mc', children } as never }) as const;

test(
  'a commit reports the turn that it makes among the changed records',
  { tags: ['snapshots:locations-and-rows'] },
  () => {
    const session = started();
    const { changes } = session.submit(block('a'), { op: 'commit', turn_id: 't1' });
    expect(changes.flat()).toContainEqual(
      expect.objectContaining({ turn: 't1', before: undefined, after: expect.anything() as unknown }),
    );
  },
);

test(
  'a tree that moves a container to a turn of another cycle changes the location of all that is in it',
  { tags: ['snapshots:locations-and-rows'] },
  () => {
    const session = started();
    const inner = { id: 'inner', nodeType: 'cb' };
    session.submit(core('box', '^ah', inner), { op: 'commit', turn_id: 't1' });
    session.submit(block('b'), { op: 'commit', turn_id: 't2' });
    const tree = treeOf(session);
    const before = tree.savepoint();
    tree.move('box', 't2', new Map());
    const moved = tree
      .changesSince(before)
      .flatMap((change) => ('node' in change ? [[change.node, change.after?.location] as const] : []));
    expect(moved).toEqual([
      ['box', { kind: 'turn', cycle: 2, ordinal: 0 }],
      ['inner', { kind: 'turn', cycle: 2, ordinal: 0 }],
    ]);
  },
);

test(
  'a node in two expiring containers goes because of the nearest one',
  { tags: ['context-tree§10.12'] },
  () => {
    const session = started();
    const inner = { id: 'inner', nodeType: 'mc', children: [{ id: 'leaf', nodeType: 'cb' }] };
    const outer = { id: 'outer', nodeType: 'mc', ttl: 1, children: [inner] };
    session.submit({ op: 'insert', parent: '^ah', node: outer }, COMMIT, COMMIT);
    const { events } = session.submit(COMMIT);
    const went = events.flatMap((event) =>
      event.type === 'NodeCascaded' || event.type === 'NodeExpired'
        ? [[event.type, event.id, 'by' in event ? event.by : null]]
        : [],
    );
    expect(went).toEqual([
      ['NodeExpired', 'outer', null],
      ['NodeCascaded', 'inner', 'outer'],
      ['NodeCascaded', 'leaf', 'outer'],
    ]);
  },
);

test(
  'a content that is replaced under ^sys is in the thread hash of the next snapshot',
  { tags: ['snapshots:thread-hash'] },
  () => {
    const hashes = (...steps: readonly ReturnType<typeof block>[]): string => {
      const session = started();
      const { snapshot } = session.submit(...steps, COMMIT);
      return toHex(snapshot?.threadHash as Uint8Array);
    };
    const rule = (content: string) => block('rule', { under: '^sys', content });
    expect(hashes(rule('old'), COMMIT, { op: 'replace', id: 'rule', set: { content: 'new' } })).toBe(
      hashes(rule('new'), COMMIT),
    );
  },
);

test.each(['root', 'sys', 'seq', 'ah'])(
  'a tree refuses to move its region %s',
  { tags: ['record§2:defective'] },
  (id) => {
    const session = started();
    session.submit({ op: 'insert', parent: '^sys', node: { id: 'box', nodeType: 'mc' } });
    expect(codeOf(() => treeOf(session).move(id, 'box', new Map()))).toBe('E_HISTORY_DEFECTIVE');
    expect(() => treeOf(session).move(id, 'box', new Map())).toThrow(`${id} is not moved`);
  },
);
