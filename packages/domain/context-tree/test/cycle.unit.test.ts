import { expect, test } from 'vitest';
import { block, box, COMMIT, facts, imported, refused, started, type TestSession } from '@stemma/test-kit';

/** The cycles in whose snapshots a node is. */
const cyclesWith = ({ history, tree }: TestSession, id: string): number[] =>
  [...history.ancestorSnapshots(0)]
    .reverse()
    .flatMap(({ cycle, branchId, seq }) => (tree(branchId, seq).indexOf(id) === undefined ? [] : [cycle]));

/** A turn `t` with a core and context on both sides, sealed. */
const sealed = (): TestSession => {
  const session = started();
  session.submit(box('core', ['said']), block('pre', { offset: -1 }), { op: 'commit', turn_id: 't' });
  return session;
};

test(
  'while a cycle runs, commands may edit every unsealed node; no command changes a sealed core',
  { tags: ['context-tree§3:open-cycle', 'context-tree§10.16'] },
  () => {
    const session = sealed();
    session.submit(block('open'), block('rule', { under: '^sys' }), box('shelf', [], { under: '^sys' }));
    const answers = [
      { op: 'replace', id: 'open', set: { content: 1 } },
      { op: 'move', id: 'open', parent: 'shelf' },
      { op: 'remove', id: 'rule' },
      block('late', { under: 't', offset: 3 }),
      { op: 'remove', id: 'late' },
      { op: 'remove', id: 'pre' },
      { op: 'replace', id: 'said', set: { content: 1 } },
      { op: 'remove', id: 'said' },
      { op: 'remove', id: 'core' },
      { op: 'remove', id: 't' },
      { op: 'move', id: 'said', parent: '^ah' },
      block('x', { under: 't' }),
      block('x', { under: 'core' }),
      box('x', [], { under: 't', offset: 3 }),
    ] as const;
    expect(answers.map((step) => refused(session, step))).toEqual([
      ...Array.from({ length: 6 }, () => 'taken'),
      ...Array.from({ length: 8 }, () => 'E_SEALED'),
    ]);
  },
);

test(
  'a command may insert blocks into a sealed turn, but may not move blocks into it, nor replace or move the blocks in it',
  { tags: ['context-tree§3:open-cycle', 'context-tree§10.16'] },
  () => {
    const session = sealed();
    session.submit(block('open', { offset: 1 }), block('late', { under: 't', offset: 1 }));
    expect(refused(session, { op: 'move', id: 'open', parent: 't' })).toBe('E_SEALED');
    expect(refused(session, { op: 'move', id: 'late', parent: '^ah' })).toBe('E_SEALED');
    expect(refused(session, { op: 'replace', id: 'late', set: { content: 1 } })).toBe('E_SEALED');
  },
);

test(
  'expiry removes a due container with all its nodes, even a sealed core, and then, upwards, the removable containers that became empty',
  { tags: ['context-tree§3.1'] },
  () => {
    const session = started();
    session.submit(
      box('outer', [], { removable: true, under: '^sys' }),
      box('inner', [{ id: 'leaf', ttl: 1 }], { removable: true, under: '^sys' }),
      { op: 'move', id: 'inner', parent: 'outer' },
      box('stays', [{ id: 'last', ttl: 1 }], { under: '^sys' }),
      box('core', ['said', 'answered'], { ttl: 1 }),
      { op: 'commit', turn_id: 't' },
    );
    const second = session.submit(COMMIT);
    // Under ^sys nothing ages: what is due there is due by a ttl of 0 from the start.
    expect(facts(second).filter((fact) => fact.startsWith('Node'))).toEqual([]);
    const third = session.submit(COMMIT);
    expect(facts(third)).toEqual([
      'NodeExpired core',
      'NodeCascaded said',
      'NodeCascaded answered',
      'SnapshotCommitted',
    ]);
    expect(session.tree().ids).toEqual([
      'root',
      'sys',
      'outer',
      'inner',
      'leaf',
      'stays',
      'last',
      'seq',
      't',
      'ah',
    ]);
    session.submit(
      box('case', [], { removable: true, under: '^sys' }),
      box('drawer', [{ id: 'note', ttl: 0 }], { removable: true, under: 'case' }),
      box('kept', [{ id: 'other', ttl: 0 }], { under: '^sys' }),
    );
    const fourth = session.submit(COMMIT);
    expect(facts(fourth).filter((fact) => fact !== 'SnapshotCommitted')).toEqual([
      'NodeExpired note',
      'NodeExpired other',
      'NodeCascaded drawer',
      'NodeCascaded case',
    ]);
    expect(session.tree().ids).toContain('kept');
  },
);

test.each([
  [0, []],
  [1, [2, 3]],
  [3, [2, 3, 4, 5]],
  [null, [2, 3, 4, 5, 6, 7]],
])(
  'a node of ttl %s is in the snapshots c … c+N and shows the remaining ttl, whether inserted into the head or attached late',
  { tags: ['context-tree§3:lifetime', 'context-tree§3.3'] },
  (ttl, cycles) => {
    const session = sealed();
    session.submit(block('mine', { ttl }), block('late', { ttl, under: 't', offset: 2 }));
    const shown: (number | null | undefined)[][] = [];
    for (let cycle = 2; cycle <= 7; cycle++) {
      session.submit(COMMIT);
      shown.push(session.ttls('mine', 'late'));
    }
    expect([cyclesWith(session, 'mine'), cyclesWith(session, 'late')]).toEqual([cycles, cycles]);
    const left = cycles.map((_, k) => (ttl === null ? null : ttl - k));
    expect(shown.slice(0, cycles.length)).toEqual(left.map((each) => [each, each]));
  },
);

test(
  'nodes at depth -1 and 0 and nodes that entered since the last snapshot do not age; a node moved out of ^sys ages as if it were new',
  { tags: ['context-tree§3.3'] },
  () => {
    const session = started();
    session.submit(block('rule', { under: '^sys', ttl: 2 }), block('head', { ttl: 2 }));
    expect(session.ttls('rule', 'head')).toEqual([2, 2]);
    session.submit(COMMIT);
    expect(session.ttls('rule', 'head')).toEqual([2, 2]);
    session.submit(COMMIT);
    expect(session.ttls('rule', 'head')).toEqual([2, 1]);
    session.submit({ op: 'move', id: 'rule', parent: '^ah' }, COMMIT);
    expect(session.ttls('rule', 'head')).toEqual([2, 0]);
    session.submit(COMMIT);
    expect(session.ttls('rule', 'head')).toEqual([1, undefined]);
  },
);

test(
  'sealing makes one turn, at depth 1, of the nodes in the head; a commit with an empty head makes a snapshot without a turn',
  { tags: ['context-tree§3.4', 'context-tree§3.5', 'PACT-05§2.1', 'PACT-05§6.1'] },
  () => {
    const session = started();
    const cycles = [
      facts(session.submit(block('a'), block('b'), { op: 'commit', turn_id: 't1' })),
      facts(session.submit({ op: 'commit', turn_id: 't2' })),
      facts(session.submit(block('due', { ttl: 0 }), { op: 'commit', turn_id: 't3' })),
    ];
    expect(cycles).toEqual([
      ['NodeInserted', 'NodeInserted', 'TurnSealed', 'SnapshotCommitted'],
      ['SnapshotCommitted'],
      ['NodeInserted', 'NodeExpired due', 'SnapshotCommitted'],
    ]);
    expect(session.history.ancestorSnapshots(0).map(({ cycle }) => cycle)).toEqual([3, 2, 1]);
    expect(session.tree().ids).toEqual(['root', 'sys', 'seq', 't1', 'a', 'b', 'ah']);
  },
);

test(
  'no later command changes a snapshot, and the head of a snapshot is empty',
  { tags: ['context-tree§3.5', 'context-tree§4:reading-changes-nothing'] },
  () => {
    const session = sealed();
    session.submit(block('a', { ttl: 1 }), COMMIT);
    const { seq } = session.submit(block('b'), COMMIT);
    const before = [session.export(0, seq), session.thread(0, seq)];
    session.submit({ op: 'remove', id: 'pre' }, block('late', { under: 't', offset: 1 }), block('c'), COMMIT);
    session.submit(COMMIT, { op: 'name', name: 'x' });
    expect([session.export(0, seq), session.thread(0, seq)]).toEqual(before);
    for (const { branchId, seq: at } of session.history.ancestorSnapshots(0))
      expect(session.tree(branchId, at).ids.at(-1)).toBe('ah');
  },
);

test('a refused commit changes nothing', { tags: ['context-tree§3:atomic'] }, () => {
  const session = sealed();
  session.submit(block('due', { ttl: 0 }), block('stays'));
  expect(refused(session, { op: 'commit', turn_id: 'said' })).toBe('E_NODE_EXISTS');
  expect(refused(session, { op: 'commit', turn_id: '' })).toBe('E_NODE_INVALID');
  expect(session.ttls('due', 'stays')).toEqual([0, null]);
});

test(
  'a due node that a staying node names in refs is held at ttl 0 and expires when its holder goes; nothing else ends a hold',
  { tags: ['context-tree§3:holds', 'context-tree§10.11'] },
  () => {
    const session = started();
    session.submit(block('named', { ttl: 0 }), block('holder', { ttl: 1, refs: ['named'] }), COMMIT);
    expect(session.ttls('named', 'holder')).toEqual([0, 1]);
    session.submit(COMMIT);
    expect(session.ttls('named', 'holder')).toEqual([0, 0]);
    expect(facts(session.submit(COMMIT))).toEqual([
      'NodeExpired named',
      'NodeExpired holder',
      'SnapshotCommitted',
    ]);
  },
);

test(
  'a held node also holds its containers, at ttl 0, together with their children that are not due themselves',
  { tags: ['context-tree§3:holds', 'context-tree§10.11'] },
  () => {
    const session = started();
    session.submit(
      box('outer', [], { ttl: 0, under: '^sys' }),
      box('inner', ['named', 'beside', { id: 'due', ttl: 0 }], { ttl: 0, under: 'outer' }),
      block('holder', { refs: ['named'], under: '^sys' }),
    );
    expect(facts(session.submit(COMMIT))).toEqual([
      'NodeHeld outer',
      'NodeHeld inner',
      'NodeExpired due',
      'SnapshotCommitted',
    ]);
    expect(session.ttls('outer', 'inner', 'named', 'beside', 'due')).toEqual([0, 0, null, null, undefined]);
  },
);

test(
  'a node cannot hold itself, nodes cannot hold only each other, and a node in an expiring container holds nothing',
  { tags: ['context-tree§10.11', 'context-tree§10.12'] },
  () => {
    const session = started();
    session.submit(
      block('self', { ttl: 0, refs: ['self'] }),
      block('left', { ttl: 0, refs: ['right'] }),
      block('right', { ttl: 0, refs: ['left'] }),
      box('going', [{ id: 'inside', refs: ['outside'] }], { ttl: 0, under: '^sys' }),
      block('outside', { ttl: 0, under: '^sys' }),
      block('first', { refs: ['second'], under: '^sys' }),
      block('second', { ttl: 0, refs: ['third'], under: '^sys' }),
      block('third', { ttl: 0, under: '^sys' }),
      COMMIT,
    );
    expect(session.tree().ids).toEqual(['root', 'sys', 'first', 'second', 'third', 'seq', 'ah']);
  },
);

test(
  'a held removable container that becomes empty stays, also after its hold ends, because nothing empties it then',
  { tags: ['context-tree§10.12', 'context-tree§10.13'] },
  () => {
    const session = started();
    session.submit(
      box('case', [{ id: 'leaf', ttl: 0 }], { removable: true, under: '^sys' }),
      box('twin', [{ id: 'other', ttl: 0 }], { removable: true, under: '^sys' }),
      box('never filled', [], { removable: true, under: '^sys' }),
      block('holder', { refs: ['case'], under: '^sys' }),
      COMMIT,
    );
    expect(session.ttls('case', 'twin', 'never filled')).toEqual([null, undefined, null]);
    session.submit({ op: 'remove', id: 'holder' }, COMMIT);
    expect(session.ttls('case', 'never filled')).toEqual([null, null]);
  },
);

test(
  'a node of ttl 0 inside an expiring container expires too; the other nodes in it cascade, and so do the containers that become empty',
  { tags: ['context-tree§10.13'] },
  () => {
    const session = started();
    session.submit(
      box('shelf', [], { removable: true, under: '^sys' }),
      box('due', ['plain', { id: 'own', ttl: 0 }], { ttl: 0, under: 'shelf' }),
    );
    expect(facts(session.submit(COMMIT)).sort((a, b) => (a < b ? -1 : 1))).toEqual([
      'NodeCascaded plain',
      'NodeCascaded shelf',
      'NodeExpired due',
      'NodeExpired own',
      'SnapshotCommitted',
    ]);
  },
);

test(
  'a commit keeps a container that a command emptied: only expiry and pruning remove empty containers',
  { tags: ['context-tree§10.13'] },
  () => {
    const session = started();
    session.submit(box('case', ['leaf'], { removable: true, under: '^sys' }));
    session.submit({ op: 'remove', id: 'leaf' }, COMMIT);
    expect(session.tree().ids).toContain('case');
  },
);

test(
  'refs to a node that a command removed name and hold nothing; the same is true of such refs in an import',
  { tags: ['context-tree§10.18'] },
  () => {
    const session = started();
    session.submit(
      block('named', { under: '^sys' }),
      block('holder', { refs: ['named', 'nobody'], under: '^sys' }),
    );
    session.submit({ op: 'remove', id: 'named' });
    expect(session.headers('holder').refs).toEqual(['named', 'nobody']);
    session.submit(COMMIT);
    const again = imported((JSON.parse(session.export()) as { root: object }).root);
    expect(again.headers('holder').refs).toEqual(['named', 'nobody']);
  },
);

test(
  'every difference between two consecutive positions has exactly one cause, which the frame between them records',
  { tags: ['context-tree§3:one-cause'] },
  () => {
    const session = sealed();
    const { seq } = session.submit(
      block('short', { ttl: 0 }),
      block('aging', { ttl: 5, under: 't', offset: 1 }),
      box('case', [{ id: 'leaf', ttl: 0 }], { removable: true, under: '^sys' }),
      block('named', { ttl: 0, under: '^sys' }),
      block('holder', { refs: ['named'], under: '^sys' }),
      block('new'),
    );
    const frame = session.submit({ op: 'commit', turn_id: 'turn' });
    expect(session.diff(seq, frame.seq)).toEqual({
      added: ['turn'],
      removed: ['case', 'leaf', 'short'],
      changed: [{ id: 'new', fields: ['parent'] }],
    });
    expect(facts(frame)).toEqual([
      'NodeHeld named',
      'NodeExpired leaf',
      'NodeExpired short',
      'NodeCascaded case',
      'TurnSealed',
      'SnapshotCommitted',
    ]);
    const next = session.submit(COMMIT);
    // Ageing is the one cause that needs no fact: the cycle alone says it.
    expect([session.diff(frame.seq, next.seq).changed, facts(next)]).toEqual([
      [{ id: 'aging', fields: ['ttl'] }],
      ['SnapshotCommitted'],
    ]);
  },
);
