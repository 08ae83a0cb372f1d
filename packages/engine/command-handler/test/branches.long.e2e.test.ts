import type { Outcome } from '@stemma/command-handler';
import type { Step } from '@stemma/history';
import { contentsOf, type Home, named, open, say, start, temporaryHome } from '@stemma/test-kit/home';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

const act = (home: Home, id: string, branchId: number, step: Step, more: object = {}): Promise<Outcome> =>
  home.submit({ id, history: named('h'), branchId, by: { actor: 'Ada' }, notes: '', steps: [step], ...more });

const inject = (text: string): Step => ({ op: 'inject', text });

const injectors = async (
  directory: string,
  names: readonly string[],
  times: number,
  branchIds: readonly number[],
): Promise<void> => {
  const child = join(import.meta.dirname, 'children/inject.ts');
  await Promise.all(
    names.map((name) =>
      run(process.execPath, [child, directory, named('h'), name, String(times), ...branchIds.map(String)]),
    ),
  );
};

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => (error as { code?: unknown }).code,
  );

test(
  'when two people inject into one branch at once, both injections are recorded one after the other; a person who expected the earlier position gets a conflict',
  { tags: ['pool:Interventions', 'record§3:outcome'] },
  async () => {
    using folder = temporaryHome();
    const [a, b] = [await open(folder.directory), await open(folder.directory)];
    await start(a, 'h');
    await say(a, 'h', 'one');
    const both = await Promise.all([act(a, 'a', 0, inject('of a')), act(b, 'b', 0, inject('of b'))]);
    expect(new Set(both.map(({ seq }) => seq))).toEqual(new Set([2, 3]));
    expect(new Set(await contentsOf(b, 'h'))).toEqual(new Set(['one', 'of a', 'of b']));
    const late = [
      act(a, 'c', 0, inject('of c'), { expected: 3 }),
      act(b, 'd', 0, inject('of d'), { expected: 3 }),
    ];
    const codes = await Promise.all(late.map(codeOf));
    expect(new Set(codes)).toEqual(new Set([undefined, 'E_CONFLICT']));
    await Promise.all([a.close(), b.close()]);
  },
);

test(
  'when three processes write to ten branches of one history at once, every injection is recorded once, in its branch',
  { tags: ['pool:Interventions', 'pool:Branches-and-snapshots'], timeout: 600_000 },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    await start(home, 'h');
    await say(home, 'h', 'one');
    const branchIds = [0];
    for (let i = 1; i < 10; i++)
      branchIds.push((await act(home, `f${i}`, 0, { op: 'fork', name: `branch-${i}` })).branchId);
    const names = ['Ada', 'Björn', 'Chen'];
    await injectors(folder.directory, names, 4, branchIds);
    for (const branchId of branchIds) {
      const said = await contentsOf(home, 'h', `${branchId}@s${await head(home, branchId)}`);
      const own = names.flatMap((name) => [0, 1, 2, 3].map((i) => `${name} ${i} in ${branchId}`));
      expect(new Set(said)).toEqual(new Set(['one', ...own]));
      expect(said.length).toBe(13);
    }
    const replayed = await home.operations.replay({ verify: true });
    expect([replayed.differences, replayed.stale >= 0]).toEqual([0, true]);
    await home.close();
  },
);

const head = async (home: Home, branchId: number): Promise<number> =>
  (await home.branches.tree(named('h'))).find((branchNode) => branchNode.branchId === branchId)?.seq ?? -1;

test(
  'an intervention repeated under its id gets the same answer, however many branches were started since, and other content under that id is refused',
  { tags: ['pool:Interventions', 'record§3:commands-remembered'] },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    await start(home, 'h');
    for (const text of ['one', 'two', 'three']) await say(home, 'h', text);
    const back = (): Promise<Outcome> => act(home, 'r', 0, { op: 'rollback', to: { branchId: 0, seq: 1 } });
    const first = await back();
    await act(home, 'i', first.branchId, inject('again'));
    expect(await back()).toEqual({ ...first, repeated: true });
    expect(await codeOf(act(home, 'r', 0, { op: 'rollback', to: { branchId: 0, seq: 2 } }))).toBe(
      'E_COMMAND_REUSED',
    );
    expect(
      await codeOf(act(home, 'r', 0, { op: 'rollback', to: { branchId: 0, seq: 1 } }, { notes: 'other' })),
    ).toBe('E_COMMAND_REUSED');
    // The history's id means the branch that went on; the first is reached by its number, and stays as it was.
    expect(await contentsOf(home, 'h')).toEqual(['one', 'again']);
    const left = await home.find('h:0');
    expect([left.branchId, left.branch, (await home.find('h')).branchId]).toEqual([
      0,
      `${named('h')}:0`,
      first.branchId,
    ]);
    expect(await contentsOf(home, 'h', '0@t0')).toEqual(['one', 'two', 'three']);
    const branchRef = await home.find('h');
    expect(
      await Promise.all(
        ['@c1', '0@c3'].map(async (ref) =>
          home.branches.howToContinue(branchRef, await home.position(branchRef, ref)),
        ),
      ),
    ).toEqual(['rollback', 'fork']);
    await home.close();
  },
);

test(
  'many forks, and writes to them, sent without waiting for answers have the same result as one at a time',
  { tags: ['snapshots:branches', 'record§3:batches'] },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    await start(home, 'h');
    await say(home, 'h', 'one');
    const forks = Array.from({ length: 20 }, (_, i) =>
      act(home, `f${i}`, 0, { op: 'fork', name: `n${i}`, at: { branchId: 0, seq: 1 } }),
    );
    const branchIds = (await Promise.all(forks)).map(({ branchId }) => branchId);
    expect(new Set(branchIds).size).toBe(20);
    await Promise.all(
      branchIds.flatMap((branchId, i) => [
        act(home, `i${i}`, branchId, inject(`in ${branchId}`)),
        act(home, `b${i}`, branchId, { op: 'rollback', to: { branchId, seq: branchId } }),
      ]),
    );
    const tree = await home.branches.tree(named('h'));
    expect(tree.length).toBe(41);
    expect(
      tree.filter(({ abandoned_by: left_by }) => left_by !== null).map(({ branchId }) => branchId),
    ).toEqual(branchIds);
    expect((await home.operations.replay({ verify: true })).differences).toBe(0);
    await home.close();
  },
);
