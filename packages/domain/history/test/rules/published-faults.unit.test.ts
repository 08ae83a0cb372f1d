import { expect, test } from 'vitest';
import { block, COMMIT, started, type TestSession } from '@stemma/test-kit';

/*
 * Faults of other checkpoint stores, as they were published, asked of ours: langchain-ai/langgraph issue 8443 and
 * langchain-ai/langgraphjs issue 2737.
 */

const said = (session: TestSession, branchId = 0, seq: number | null = null): readonly string[] =>
  session.tree(branchId, seq).ids.filter((id) => /^(shared|parent|fork|future|again)-/.test(id));

test(
  'a fork never sees what its parent writes later, at no position and at no depth of forks (langgraph 8443)',
  { tags: ['pool:Branches-and-snapshots', 'snapshots:branches'] },
  () => {
    const session = started();
    session.submit(block('shared-1'), COMMIT);
    session.submit(block('shared-open'));
    const fork = session.history.fork(0, 2, 'fork');
    // Writes of the parent between the fork and the fork's own first write, and beside it.
    session.submit(block('parent-1'));
    session.submit({ op: 'replace', id: 'shared-open', set: { content: 'of the parent' } });
    session.on(fork, block('fork-1'), COMMIT);
    session.submit(COMMIT);
    const second = session.history.fork(fork, fork, 'second');
    session.submit(block('parent-2'), COMMIT);
    session.on(second, COMMIT);
    expect([said(session, fork), said(session, second), said(session, fork, fork)]).toEqual([
      ['shared-1', 'shared-open', 'fork-1'],
      ['shared-1', 'shared-open'],
      ['shared-1', 'shared-open'],
    ]);
    expect(said(session)).toEqual(['shared-1', 'shared-open', 'parent-1', 'parent-2']);
    const content = (branchId: number): string =>
      session.thread(branchId).includes('of the parent') ? 'parent' : 'own';
    expect([content(0), content(fork), content(second)]).toEqual(['parent', 'own', 'own']);
  },
);

test(
  'going on from an older position mixes nothing of the abandoned future in, and the future stays as it was (langgraphjs 2737)',
  { tags: ['pool:Branches-and-snapshots', 'snapshots:branches'] },
  () => {
    const session = started();
    session.submit(block('shared-1'), COMMIT);
    session.submit(block('future-1'));
    session.submit({ op: 'name', name: 'pending' });
    session.submit(COMMIT);
    session.submit(block('future-open'), { op: 'config', set: { depth: 9 } });
    const future = session.export();
    const again = session.history.rollback(0, 1, 'left');
    session.on(again, block('again-1'), COMMIT);
    expect([said(session, again), session.history.parts(again, null).config]).toEqual([
      ['shared-1', 'again-1'],
      {},
    ]);
    expect(session.history.ancestorSnapshots(again).map(({ cycle, branchId }) => [cycle, branchId])).toEqual([
      [2, again],
      [1, 0],
    ]);
    // Once more from the same place: nothing of the second try either.
    const third = session.history.rollback(again, 1, null);
    session.on(third, COMMIT);
    expect(said(session, third)).toEqual(['shared-1']);
    expect([session.export(0), said(session, 0)]).toEqual([future, ['shared-1', 'future-1', 'future-open']]);
  },
);

test(
  'branches that go on from one position, the empty root too, take nothing of each other, whichever is written first (langgraph 8443, langgraphjs 2737)',
  { tags: ['pool:Branches-and-snapshots', 'snapshots:branches'] },
  () => {
    for (const base of [0, 1]) {
      const session = started();
      if (base === 1) session.submit(block('shared-1'), COMMIT);
      const shared = base === 1 ? ['shared-1'] : [];
      // The one that was there, what replaces it, and a sibling: each written to before and behind the others.
      session.submit(block('parent-in'));
      const fork = session.history.fork(0, base, 'fork');
      session.on(fork, block('fork-in'));
      session.submit(block('parent-out'), COMMIT);
      const again = session.history.fork(0, base, 'again');
      session.on(again, block('again-in'), COMMIT);
      session.on(fork, block('fork-out'), COMMIT);
      expect([said(session), said(session, fork), said(session, again)]).toEqual([
        [...shared, 'parent-in', 'parent-out'],
        [...shared, 'fork-in', 'fork-out'],
        [...shared, 'again-in'],
      ]);
    }
  },
);
