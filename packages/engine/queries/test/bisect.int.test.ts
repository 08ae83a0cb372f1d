import { branchRefOf, type Position } from '@stemma/history-store';
import { bisect } from '@stemma/queries';
import { anyOperations, framesOf, HISTORY, play, type Played, sized } from '@stemma/test-kit';
import { open, say, send, start, temporaryHome } from '@stemma/test-kit/home';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(10, 30));

const snapshotsOf = (played: Played, branchId: number): Position[] =>
  framesOf(played, branchId, played.history.state.next - 1)
    .filter(({ body }) => body.events.some(({ type }) => type === 'SnapshotCommitted'))
    .map(({ envelope, body }) => played.positionAt(body.branchId, envelope.seq));

const idsAt = ({ history }: Played, { branchId, seq }: Position): Set<string> =>
  new Set([...history.copyAt(branchId, seq).nodes].map(({ headers }) => headers.id));

test(
  'between any two snapshots, also across forks and back in time, bisect finds a snapshot that matches and whose predecessor does not',
  { tags: ['context-tree§5:fork', 'context-tree§5:rollback'] },
  async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(anyOperations(20, 60), fc.nat(1_000), fc.nat(1_000), async (actions, a, b) => {
        const played = play(actions);
        const all = [...played.history.branches.keys()].flatMap((branchId) => snapshotsOf(played, branchId));
        const [good, bad] = [all[a % Math.max(1, all.length)], all[b % Math.max(1, all.length)]];
        if (good === undefined || bad === undefined) return;
        const id = [...idsAt(played, bad)].find((one) => !idsAt(played, good).has(one));
        if (id === undefined) return;
        const answer = await bisect(played.projector, branchRefOf(HISTORY, 0), {
          good: `@s${good.seq}`,
          bad: `@s${bad.seq}`,
          when: `[id='${id}']`,
        });
        found += 1;
        expect(idsAt(played, answer.first).has(id)).toBe(true);
        expect(idsAt(played, answer.before).has(id)).toBe(false);
        expect(answer.matched).toEqual([id]);
        expect(answer.loads).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(answer.snapshots - 1)));
        const change = answer.changes.find((one) => one.id === id);
        expect(change?.change).toBe(answer.way === 'on' ? 'added' : 'removed');
        expect(change?.causes).toHaveLength(1);
      }),
      { numRuns: 3 * RUNS },
    );
    expect(found).toBeGreaterThan(0);
  },
);

test('bisect finds the first matching snapshot of many by reading only a few, and refuses wrong ends with a code', async () => {
  using at = temporaryHome();
  const home = await open(at.directory);
  await start(home, 'a');
  for (let i = 1; i <= 40; i++) {
    if (i === 23)
      await send(home, 'a', 'plan', [
        { op: 'insert', parent: '^sys', node: { id: 'plan', nodeType: 'cb', content: 'A plan.' } },
      ]);
    await say(home, 'a', `word ${i}`);
  }
  const branchRef = await home.find('a');
  const ask = (good: string, bad: string, when: string, not = false) =>
    home.queries.questions.bisect(branchRef, { good, bad, when, not });

  const found = await ask('@c1', '@c40', '#plan');
  expect(found).toMatchObject({
    first: { label: '@c23' },
    before: { label: '@c22' },
    way: 'on',
    matched: ['plan'],
    snapshots: 40,
  });
  expect(found.loads).toBeLessThanOrEqual(8);
  expect(found.changes.find(({ id }) => id === 'plan')?.causes[0]?.origin.command).toBe('plan');
  expect(await ask('@c40', '@c1', '#plan', true)).toMatchObject({
    first: { label: '@c22' },
    before: { label: '@c23' },
    way: 'back',
    matched: [],
    matchedBefore: ['plan'],
  });

  const refused = async (good: string, bad: string, when: string, code: string): Promise<void> => {
    await expect(ask(good, bad, when)).rejects.toMatchObject({ code });
  };
  await refused('@c30', '@c40', '#plan', 'E_BISECT_ENDS');
  await refused('@c1', '@c2', '#plan', 'E_BISECT_ENDS');
  await refused('@c4', '@c4', '#plan', 'E_BISECT_ENDS');
  await refused('@c1', '@s1', '#plan', 'E_BISECT_ENDS');
  await send(home, 'a', 'open', [{ op: 'remove', id: 'plan' }]);
  await refused('@c1', '', '#plan', 'E_BISECT_ENDS');
  await refused('@c1', '@c99', '#plan', 'E_SNAPSHOT_NOT_FOUND');
  await refused('@c1', '@c40', '@c3 #plan', 'E_SELECTOR_INVALID');
  await refused('@c1', '@c40', '#plan[', 'E_SELECTOR_INVALID');
  await home.close();
});
