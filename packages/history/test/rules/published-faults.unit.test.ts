import { expect, test } from 'vitest';
import { block, COMMIT, started, type Session } from './kit.ts';

/*
 * Faults of other checkpoint stores, as they were published, asked of ours: langchain-ai/langgraph issue 8443 and
 * langchain-ai/langgraphjs issue 2737.
 */

const said = (session: Session, branchId = 0, seq: number | null = null): readonly string[] =>
  session.tree(branchId, seq).ids.filter((id) => /^(stem|parent|fork|future|again)-/.test(id));

test('a fork never sees what its parent writes later, at no position and at no depth of forks (langgraph 8443) [pool: Branches and snapshots] [snapshots: branches]', () => {
  const session = started();
  session.submit(block('stem-1'), COMMIT);
  session.submit(block('stem-open'));
  const fork = session.history.fork(0, 2, 'fork');
  // Writes of the parent between the fork and the fork's own first write, and beside it.
  session.submit(block('parent-1'));
  session.submit({ op: 'replace', id: 'stem-open', set: { content: 'of the parent' } });
  session.on(fork, block('fork-1'), COMMIT);
  session.submit(COMMIT);
  const second = session.history.fork(fork, fork, 'second');
  session.submit(block('parent-2'), COMMIT);
  session.on(second, COMMIT);
  expect([said(session, fork), said(session, second), said(session, fork, fork)]).toEqual([
    ['stem-1', 'stem-open', 'fork-1'],
    ['stem-1', 'stem-open'],
    ['stem-1', 'stem-open'],
  ]);
  expect(said(session)).toEqual(['stem-1', 'stem-open', 'parent-1', 'parent-2']);
  const content = (branchId: number): string =>
    session.thread(branchId).includes('of the parent') ? 'parent' : 'own';
  expect([content(0), content(fork), content(second)]).toEqual(['parent', 'own', 'own']);
});

test('going on from an older position mixes nothing of the abandoned future in, and the future stays as it was (langgraphjs 2737) [pool: Branches and snapshots] [snapshots: branches]', () => {
  const session = started();
  session.submit(block('stem-1'), COMMIT);
  session.submit(block('future-1'));
  session.submit({ op: 'name', name: 'pending' });
  session.submit(COMMIT);
  session.submit(block('future-open'), { op: 'config', set: { depth: 9 } });
  const future = session.export();
  const again = session.history.rollback(0, 1, 'left');
  session.on(again, block('again-1'), COMMIT);
  expect([said(session, again), session.history.parts(again, null).config]).toEqual([
    ['stem-1', 'again-1'],
    {},
  ]);
  expect(session.history.ancestorSnapshots(again).map(({ cycle, branchId }) => [cycle, branchId])).toEqual([
    [2, again],
    [1, 0],
  ]);
  // Once more from the same place: nothing of the second try either.
  const third = session.history.rollback(again, 1, null);
  session.on(third, COMMIT);
  expect(said(session, third)).toEqual(['stem-1']);
  expect([session.export(0), said(session, 0)]).toEqual([future, ['stem-1', 'future-1', 'future-open']]);
});

test('branches that go on from one position, the empty root too, take nothing of each other, whichever is written first (langgraph 8443, langgraphjs 2737) [pool: Branches and snapshots] [snapshots: branches]', () => {
  for (const base of [0, 1]) {
    const session = started();
    if (base === 1) session.submit(block('stem-1'), COMMIT);
    const stem = base === 1 ? ['stem-1'] : [];
    // The one that was there, what replaces it, and a sibling: each written to before and behind the others.
    session.submit(block('parent-in'));
    const fork = session.history.fork(0, base, 'fork');
    session.on(fork, block('fork-in'));
    session.submit(block('parent-out'), COMMIT);
    const again = session.history.fork(0, base, 'again');
    session.on(again, block('again-in'), COMMIT);
    session.on(fork, block('fork-out'), COMMIT);
    expect([said(session), said(session, fork), said(session, again)]).toEqual([
      [...stem, 'parent-in', 'parent-out'],
      [...stem, 'fork-in', 'fork-out'],
      [...stem, 'again-in'],
    ]);
  }
});
