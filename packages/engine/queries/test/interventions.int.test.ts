import type { Outcome } from '@stemma/command-handler';
import type { Step } from '@stemma/history';
import type { Intervention } from '@stemma/queries';
import { type Home, named, open, say, start, temporaryHome } from '@stemma/test-kit/home';
import { expect, it } from 'vitest';

const act = (
  home: Home,
  actor: string,
  id: string,
  notes: string,
  step: Step,
  branchId = 0,
): Promise<Outcome> =>
  home.submit({ id, history: named('pool'), branchId, by: { actor }, notes, steps: [step] });

/** A history with an injection, a fork, an edit on the fork, and notes. */
const observed = async (directory: string): Promise<Home> => {
  const home = await open(directory);
  await start(home, 'pool');
  await say(home, 'pool', 'one');
  await act(home, 'ana', 'inject-1', 'what if', { op: 'inject', text: 'a hint' });
  await say(home, 'pool', 'two');
  await act(home, 'ben', 'fork-1', 'apart', { op: 'fork', name: 'side' });
  await act(
    home,
    'ben',
    'edit-1',
    '',
    { op: 'insert', parent: '^ah', node: { nodeType: 'cb', content: 'x' } },
    4,
  );
  await act(home, 'ana', 'note-1', '', {
    op: 'annotate',
    note: 'it did work',
    position: { branchId: 0, seq: 2 },
  });
  return home;
};

const all = async (source: AsyncIterable<Intervention>): Promise<Intervention[]> => {
  const found: Intervention[] = [];
  for await (const one of source) found.push(one);
  return found;
};

it(
  'interventions are listed with actor, reason, content, the positions before and after, and later notes',
  { tags: ['pool:Interventions'] },
  async () => {
    using folder = temporaryHome();
    await using home = disposable(await observed(folder.directory));
    const branchRef = await home.find('pool');
    const found = await all(home.queries.audit.eachIntervention(branchRef));

    expect(
      found.map(({ id, intervention_type, snapshot_before, snapshot_after, branchId }) => [
        id,
        intervention_type,
        snapshot_before,
        snapshot_after,
        branchId,
      ]),
    ).toEqual([
      ['inject-1', 'message_inject', '@s1', '@s2', 0],
      ['fork-1', 'fork', '@s3', '@s3', 4],
      ['edit-1', 'edit', '@s4', '@s5', 4],
      ['note-1', 'annotate', '@s3', '@s3', 0],
    ]);
    expect(found[0]).toMatchObject({
      actor: 'ana',
      notes: 'what if',
      content: { text: 'a hint', source: 'manual' },
    });
    expect(found[0]?.annotations.map(({ by, note }) => [by, note])).toEqual([['ana', 'it did work']]);
    expect(await home.queries.audit.intervention(branchRef.history, 'inject-1')).toEqual(found[0]);
    expect(await home.queries.audit.intervention(branchRef.history, '@s2')).toEqual(found[0]);
    await expect(home.queries.audit.intervention(branchRef.history, '@s1')).rejects.toMatchObject({
      code: 'E_INTERVENTION_NOT_FOUND',
    });
  },
);

it(
  'interventions are found by type, actor, branch, position and time, in pages',
  { tags: ['pool:Interventions'] },
  async () => {
    using folder = temporaryHome();
    await using home = disposable(await observed(folder.directory));
    const branchRef = await home.find('pool');
    const ids = async (
      ...asked: Parameters<Home['queries']['audit']['interventions']> extends [unknown, ...infer Rest]
        ? Rest
        : never
    ) => (await home.queries.audit.interventions(branchRef, ...asked)).interventions.map(({ id }) => id);
    const far = 10n ** 19n;

    expect(await ids({ type: 'fork' })).toEqual(['fork-1']);
    expect(await ids({ actor: 'ana' })).toEqual(['inject-1', 'note-1']);
    expect(await ids({ branch: 'side' })).toEqual(['fork-1', 'edit-1']);
    expect(await ids({ snapshot: '@s3' })).toEqual(['fork-1', 'note-1']);
    expect(await ids({ snapshot: '@s3', actor: 'ben' })).toEqual(['fork-1']);
    expect(await ids({ after: far })).toEqual([]);
    expect(await ids({ before: far }, { newest: true, limit: 1 })).toEqual(['note-1']);
    const first = await home.queries.audit.interventions(branchRef, {}, { limit: 3 });
    expect(await ids({}, { from: first.next as number })).toEqual(['note-1']);
    await expect(ids({ branch: 'nobody' })).rejects.toMatchObject({ code: 'E_BRANCH_NOT_FOUND' });
  },
);

const disposable = (home: Home): Home & AsyncDisposable =>
  Object.assign(home, { [Symbol.asyncDispose]: () => home.close() });

it(
  'a comparison lists the fork at which two branches diverged, and the interventions on each with their contents and reasons',
  { tags: ['pool:Interventions'] },
  async () => {
    using folder = temporaryHome();
    await using home = disposable(await observed(folder.directory));
    const { divergedBy, a, b } = await home.queries.audit.compare(await home.find('pool'), '@s1', 'side');

    expect(divergedBy).toBe(null);
    expect(a.interventionFrames).toEqual([]);
    expect(b.interventionFrames.map(({ seq, intervention }) => [seq, intervention])).toEqual([
      [2, { type: 'message_inject', notes: 'what if' }],
      [4, { type: 'fork', notes: 'apart' }],
      [5, { type: 'edit', notes: '' }],
    ]);
    expect(b.first?.intervention).toEqual({ type: 'message_inject', notes: 'what if' });
  },
);
