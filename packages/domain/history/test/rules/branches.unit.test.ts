import { expect, test } from 'vitest';
import { block, codeOf, COMMIT, facts, newSession, started, type TestSession } from '@stemma/test-kit';

const cycles = ({ history }: TestSession, branchId: number): [number, number][] =>
  history.ancestorSnapshots(branchId).map(({ cycle, branchId: of }) => [cycle, of]);

/** Three cycles a, b, c on the root branch, frames 1, 2, 3. */
const three = (): TestSession => {
  const session = started();
  for (const id of ['a', 'b', 'c']) session.submit(block(id), COMMIT);
  return session;
};

test(
  'the ancestor path of a fork runs through the fork point into its parent, at every depth of forks',
  { tags: ['context-tree§5:fork'] },
  () => {
    const session = three();
    const fork = session.history.fork(0, 2, 'fork');
    session.on(fork, block('d'), COMMIT);
    session.submit(block('e'), COMMIT);
    const second = session.history.fork(fork, 3, 'second');
    session.on(second, block('f'), COMMIT);
    expect(cycles(session, fork)).toEqual([
      [3, fork],
      [2, 0],
      [1, 0],
    ]);
    // A fork at frame 3 of the first fork is still before that fork's own frames, and sees none of the root's third cycle.
    expect(cycles(session, second)).toEqual([
      [3, second],
      [2, 0],
      [1, 0],
    ]);
    expect(session.tree(second).ids.filter((id) => id.length === 1)).toEqual(['a', 'b', 'f']);
  },
);

test(
  'a fork of a position with a draft has that draft, and both branches continue independently',
  { tags: ['context-tree§5:fork'] },
  () => {
    const session = three();
    const { seq } = session.submit(block('open'));
    const fork = session.history.fork(0, seq, 'fork');
    expect(session.export(fork)).toBe(session.export());
    session.submit({ op: 'replace', id: 'open', set: { content: 'other' } });
    expect(session.export(fork)).not.toBe(session.export());
    session.on(fork, { op: 'commit', turn_id: 'sealed in the fork' });
    session.submit({ op: 'commit', turn_id: 'sealed in main' });
    expect([session.tree().ids.at(-3), session.tree(fork).ids.at(-3)]).toEqual([
      'sealed in main',
      'sealed in the fork',
    ]);
  },
);

test(
  'a rollback starts a branch at the target and moves the name to it, its next cycle is the target’s + 1, and the abandoned branch stays unchanged',
  { tags: ['context-tree§5:rollback'] },
  () => {
    const session = newSession({ op: 'start', name: 'mine' });
    for (const id of ['a', 'b', 'c']) session.submit(block(id), COMMIT);
    const before = session.export();
    const name = session.history.parts(0, null).name;
    const back = session.history.rollback(0, 1, 'left');
    expect([session.history.parts(back, null).name, session.history.parts(0, null).name]).toEqual([
      name,
      'left',
    ]);
    expect(cycles(session, back)).toEqual([[1, 0]]);
    expect(session.on(back, block('d'), COMMIT).snapshot?.cycle).toBe(2);
    expect(cycles(session, back)).toEqual([
      [2, back],
      [1, 0],
    ]);
    expect(session.export(0)).toBe(before);
  },
);

test(
  'after a rollback the draft stays with the abandoned branch, and the ids of all branches stay taken',
  { tags: ['context-tree§10.21', 'context-tree§2:ids'] },
  () => {
    const session = three();
    session.submit(block('open'));
    const back = session.history.rollback(0, 3, 'left');
    expect([session.tree(0).ids.includes('open'), session.tree(back).ids.includes('open')]).toEqual([
      true,
      false,
    ]);
    expect(['open', 'c'].map((id) => codeOf(() => session.on(back, block(id))))).toEqual([
      'E_NODE_EXISTS',
      'E_NODE_EXISTS',
    ]);
  },
);

test(
  'a fork or rollback takes the configuration in force at its target, whatever came later',
  { tags: ['context-tree§10.21'] },
  () => {
    const session = three();
    session.submit({ op: 'policy', policy: { max_blocks: 2, keep_turns: 0, pins: [] } });
    session.submit({ op: 'policy', policy: { max_blocks: 1, keep_turns: 0, pins: [] } });
    const [without, two] = [session.history.fork(0, 3, 'without'), session.history.rollback(0, 4, 'left')];
    const pruned = (branchId: number): string[] =>
      facts(session.on(branchId, COMMIT)).filter((fact) => fact.startsWith('NodePruned'));
    expect([pruned(without), pruned(two), pruned(0)]).toEqual([
      [],
      ['NodePruned a'],
      ['NodePruned a', 'NodePruned b'],
    ]);
  },
);

test(
  'a saved name means one position of the history forever, on whatever branch, and consists of letters of any script, digits, _ . -',
  { tags: ['context-tree§5:positions'] },
  () => {
    const session = three();
    session.submit(block('open'), { op: 'name', name: 'half_way.1-x' });
    session.submit(COMMIT);
    expect(session.history.name('half_way.1-x')).toEqual({ branchId: 0, seq: 4 });
    expect(session.tree(0, 4).ids).toContain('open');
    expect(codeOf(() => session.submit({ op: 'name', name: 'half_way.1-x' }))).toBe('E_NAME_TAKEN');
    session.submit({ op: 'name', name: 'größe-会議-мир' });
    expect(session.history.name('größe-会議-мир')).toBeDefined();
    // Of what one sees as one name there is one; nothing in a name is hidden, or changes what stands around it.
    const notComposed = 'ä'.normalize('NFD');
    const hidden = ['a\u200bb', '\u202ex', 'a\u3164', 'a\u0000', 'x\ufe0f', '\u{e0041}', '\u0301x'];
    const tooLong = ['x'.repeat(129), 'ä'.repeat(65)];
    for (const name of ['', 'a b', '@x', 'a:b', notComposed, ...hidden, ...tooLong])
      expect(codeOf(() => session.submit({ op: 'name', name }))).toBe('E_NAME_INVALID');
  },
);
