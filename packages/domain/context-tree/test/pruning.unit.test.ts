import { expect, test } from 'vitest';
import { block, box, COMMIT, facts, started, type TestSession } from '@stemma/test-kit';

type Step = ReturnType<typeof block>;

const policy = (max_blocks: number, keep_turns = 0, pins: string[] = []): Step => ({
  op: 'policy',
  policy: { max_blocks, keep_turns, pins },
});

/** Turns t1, t2, … each sealed with these blocks. */
const turns = (...blocks: readonly (readonly Step[])[]): TestSession => {
  const session = started();
  blocks.forEach((steps, i) => session.submit(...steps, { op: 'commit', turn_id: `t${i + 1}` }));
  return session;
};

const pruned = (session: TestSession, ...steps: readonly Step[]): string[] =>
  facts(session.submit(...steps, COMMIT)).flatMap((fact) =>
    fact.startsWith('NodePruned ') ? [fact.slice('NodePruned '.length)] : [],
  );

test(
  'pruning removes the block of lowest priority first, then the oldest, then by id, until the policy allows the remaining number',
  { tags: ['context-tree§3.2', 'context-tree§10.14'] },
  () => {
    const session = turns(
      [block('high', { priority: 5 }), block('a2'), block('a1')],
      [block('b'), block('low', { priority: -1 })],
    );
    expect(pruned(session, policy(1))).toEqual(['low', 'a1', 'a2', 'b']);
    expect(session.tree().ids).toEqual(['root', 'sys', 'seq', 't1', 'high', 't2', 'ah']);
  },
);

test(
  'pruning counts the blocks of ^sys and the head but never removes them, and removes nothing while the count is within the policy',
  { tags: ['context-tree§10.14'] },
  () => {
    const session = turns([block('old')], [block('new')]);
    expect(pruned(session, policy(2))).toEqual([]);
    session.submit(block('rule', { under: '^sys' }), block('open'));
    expect(pruned(session, policy(1))).toEqual(['old', 'new']);
    expect(session.ttls('rule', 'open')).toEqual([null, null]);
  },
);

test(
  'the newest K turns of ^seq, counted before sealing, are protected',
  { tags: ['context-tree§3.2', 'context-tree§10.14'] },
  () => {
    const session = turns([block('a')], [block('b')], [block('c')]);
    session.submit(block('open'));
    expect(pruned(session, policy(1, 2))).toEqual(['a']);
    // The head was sealed by that commit: the two newest are now its turn and that of `c`.
    expect(pruned(session)).toEqual(['b']);
    expect(pruned(session, policy(0, 0))).toEqual(['c', 'open']);
  },
);

test(
  'a pin protects its node, and what a pinned container or turn holds',
  { tags: ['context-tree§3.2', 'context-tree§10.14'] },
  () => {
    const session = turns([box('core', ['said'])], [block('a'), block('b')], [block('c')]);
    expect(pruned(session, policy(0, 0, ['core', 'b', 't3']))).toEqual(['a']);
  },
);

test(
  'a referenced block is protected until its last referrer has been pruned; blocks that name each other protect each other',
  { tags: ['context-tree§3.2', 'context-tree§3:holds', 'context-tree§10.14'] },
  () => {
    const session = turns(
      [
        block('named', { priority: -5 }),
        block('left', { refs: ['right'] }),
        block('right', { refs: ['left'] }),
      ],
      [block('one', { refs: ['named'] }), block('two', { refs: ['named'], priority: 1 })],
    );
    expect(pruned(session, policy(4))).toEqual(['one']);
    expect(pruned(session, policy(2))).toEqual(['two', 'named']);
    expect(pruned(session, policy(0))).toEqual([]);
    expect(session.ttls('left', 'right')).toEqual([null, null]);
  },
);

test(
  'pruning empties removable containers like expiry',
  { tags: ['context-tree§10.13', 'context-tree§10.14'] },
  () => {
    const session = turns([box('core', ['said'], { removable: true })], [box('plain', ['heard'])]);
    expect(facts(session.submit(policy(0), COMMIT))).toEqual([
      'PolicyConfigured',
      'NodePruned said',
      'NodePruned heard',
      'NodeCascaded core',
      'SnapshotCommitted',
    ]);
  },
);

test(
  'a priority changes by policy alone, for any node, as a recorded fact that shows in a diff',
  { tags: ['context-tree§10.15', 'context-tree§2:stability'] },
  () => {
    const session = turns([block('a'), block('b')]);
    const frame = session.submit({
      op: 'priorities',
      priorities: [
        { id: 'a', priority: 3 },
        { id: 't1', priority: 1 },
        { id: 'seq', priority: 2 },
      ],
    });
    expect(facts(frame)).toEqual(['PriorityChanged a', 'PriorityChanged t1', 'PriorityChanged seq']);
    expect(session.diff(frame.seq - 1, frame.seq).changed).toEqual([
      { id: 'seq', fields: ['priority'] },
      { id: 't1', fields: ['priority'] },
      { id: 'a', fields: ['priority'] },
    ]);
    expect(pruned(session, policy(1))).toEqual(['b']);
  },
);

test.each([
  [{ max_blocks: -1 }],
  [{ max_blocks: 1.5 }],
  [{ max_blocks: 1, keep_turns: -1 }],
  [{ max_blocks: 1, pins: [1] }],
  [{ max_blocks: 1, most: 2 }],
  [[]],
])('a policy that is %j is refused', { tags: ['context-tree§10.14', 'context-tree§8:codes'] }, (wrong) => {
  expect(() => started().submit({ op: 'policy', policy: wrong as never })).toThrow(
    expect.objectContaining({ code: 'E_POLICY_INVALID' }) as Error,
  );
});

test(
  'of many blocks those of the lowest priorities are pruned, in the order of their priorities',
  { tags: ['context-tree§10.14'] },
  () => {
    const priorities = Array.from({ length: 40 }, (_, i) => (i * 17) % 40);
    const session = turns(priorities.map((priority) => block(`b${priority}`, { priority })));
    expect(pruned(session, policy(10))).toEqual(Array.from({ length: 30 }, (_, i) => `b${i}`));
  },
);
