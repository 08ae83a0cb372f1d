import type { Outcome } from '@stemma/command-handler';
import { flattenRecords, hashFlat, type EventRef } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import { payloadIn, type Step } from '@stemma/history';
import { exportExperiment } from '@stemma/operations';
import { anyOperations, play, sized } from '@stemma/test-kit';
import { type Home, named, open, say, start, temporaryHome } from '@stemma/test-kit/home';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(6, 12));

const textOf = async (pieces: AsyncIterable<string>): Promise<string> => {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
};

it(
  'an exported branch run again as an experiment has the same hashes, whatever forks and rollbacks are on its path',
  { tags: ['pool:experiment'], timeout: 600_000 },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(anyOperations(20, 80), fc.nat(), async (actions, pick) => {
        const played = play(actions);
        const { history } = played;
        const branchIds = [...history.branches.keys()];
        const branchId = branchIds[pick % branchIds.length] ?? 0;
        const position = played.positionAt(branchId, history.state.next - 1);
        const projector = { ...played.projector, catchUp: () => Promise.resolve() };
        const text = await textOf(exportExperiment(projector, position));
        const name = `run-${run++}`;
        const done = await home.operations.experiments.run(text, { name });
        const source = ({ seq, index }: EventRef) =>
          payloadIn(history.frames[seq]?.body.events[index] as HistoryEvent);
        const hashes = hashFlat(flattenRecords(history.copyAt(branchId, position.seq)), source);

        expect([done.tree, done.thread]).toEqual([
          Buffer.from(hashes.treeHash).toString('hex'),
          Buffer.from(hashes.threadHash).toString('hex'),
        ]);
        expect(done.repeated).toBe(0);
        const again = await home.operations.experiments.run(text, { name });
        expect(again).toEqual({ ...done, repeated: done.commands });
      }),
      { numRuns: RUNS },
    );
    await home.close();
  },
);

const act = (home: Home, id: string, branchId: number, ...steps: Step[]): Promise<Outcome> =>
  home.submit({ id, history: named('pool'), branchId, by: { actor: 'ana' }, notes: `why ${id}`, steps });

/** A history with an intervention of every kind on the ancestor path of its newest branch. */
const observed = async (home: Home): Promise<void> => {
  await start(home, 'pool');
  await say(home, 'pool', 'one');
  await act(home, 'inject', 0, { op: 'inject', text: 'a hint', ttl: 3 }, { op: 'commit' });
  await act(home, 'config', 0, { op: 'config', set: { seed: 7, k: 3 } });
  await act(home, 'policy', 0, { op: 'policy', policy: { max_blocks: 9, keep_turns: 1, pins: [] } });
  await act(home, 'query', 0, { op: 'query', question: 'why?', answer: { a: 'so' }, mind: 'm' });
  await act(home, 'run', 0, { op: 'run', rounds: 1, total_rounds_after: 1, since: { branchId: 0, seq: 2 } });
  await act(home, 'save', 0, { op: 'save', name: 'here', description: 'a place' });
  await act(home, 'edit', 0, {
    op: 'insert',
    parent: '^ah',
    node: { nodeType: 'cb', content: { deep: [1.5, null] } },
  });
  const fork = await act(home, 'fork', 0, { op: 'fork', name: 'side', description: 'apart' });
  await act(home, 'note', 0, { op: 'annotate', note: 'elsewhere' });
  await act(home, 'large', fork.branchId, {
    op: 'insert',
    parent: '^sys',
    node: { nodeType: 'cb', content: 'large '.repeat(100_000) },
  });
  const left = await act(home, 'commit', fork.branchId, { op: 'commit' });
  await act(home, 'after', fork.branchId, { op: 'inject', text: 'lost' });
  const back = await act(home, 'rollback', fork.branchId, {
    op: 'rollback',
    to: { branchId: left.branchId, seq: left.seq },
    abandoned: 'lost',
  });
  await act(home, 'name elsewhere', back.branchId, {
    op: 'annotate',
    note: 'of main',
    position: { branchId: 0, seq: 11 },
  });
  await act(home, 'end', back.branchId, { op: 'inject', text: 'on' }, { op: 'commit' });
};

it(
  'the run of an experiment has the same interventions with actors and reasons, also with large contents',
  { tags: ['pool:experiment'] },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    await observed(home);
    const branchRef = await home.find(`${named('pool')}:side`);
    const text = await textOf(home.operations.experiments.export(await home.position(branchRef)));
    const done = await home.operations.experiments.run(text, { name: 'copy' });
    const told = async (name: string) => {
      const found: unknown[] = [];
      for await (const one of home.queries.audit.eachIntervention(await home.find(name))) {
        const { id, actor, intervention_type, notes, content } = one;
        const {
          forked_to: _forked,
          abandoned: _left,
          to: _to,
          since: _since,
          position: _at,
          ...rest
        } = content;
        found.push({ id, actor, intervention_type, notes, content: rest });
      }
      return found;
    };
    const original = (await told('pool')).filter(
      (one) => !['note', 'after'].includes((one as { id: string }).id),
    );
    const copy = await told('copy');

    expect(JSON.parse(text)).toMatchObject({
      seeds: { seed: 7 },
      configuration: { k: 3 },
      left_out: [expect.any(String)],
    });
    expect(copy.slice(0, -2)).toEqual(original.slice(0, -2));
    expect(copy.at(-1)).toEqual(original.at(-1));
    const exported = async (name: string): Promise<string> => {
      const { treeHash, threadHash } = (await home.read.snapshots(await home.find(name))).at(-1) ?? {};
      return `${treeHash ?? ''} ${threadHash ?? ''}`;
    };
    expect(await exported(done.branch)).toBe(await exported(branchRef.branch));
    expect((await home.operations.replay({ verify: true })).differences).toBe(0);
    await home.close();
  },
);

it(
  'the run of an experiment reports the command at which hashes begin to differ, continues where it was stopped, and refuses a file that is no experiment',
  { tags: ['pool:experiment'] },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    await observed(home);
    const position = await home.position(await home.find(`${named('pool')}:side`));
    const text = await textOf(home.operations.experiments.export(position));
    const stop = new AbortController();
    const onProgress = (count: number): void => {
      if (count === 5) stop.abort(new Error('stopped'));
    };
    await expect(home.operations.experiments.run(text, { signal: stop.signal, onProgress })).rejects.toThrow(
      'stopped',
    );
    expect(await home.operations.experiments.run(text)).toMatchObject({ repeated: 5 });

    const other = text.replaceAll('"text":"a hint"', '"text":"a hunt"');
    await expect(home.operations.experiments.run(other)).rejects.toMatchObject({
      code: 'E_EXPERIMENT_DIVERGED',
      detail: { command: 2, frame: 2 },
    });
    await expect(home.operations.experiments.run(text, { name: 'pool' })).rejects.toMatchObject({
      code: 'E_HISTORY_EXISTS',
    });

    const before = (await home.read.histories()).length;
    const good = JSON.parse(text) as { commands: { steps: object[] }[] };
    const hostile: unknown[] = [
      {},
      [],
      { ...good, commands: [] },
      { ...good, more: 1 },
      { ...good, format: 'stemma-experiment@2' },
      { ...good, end: { tree: 'x', thread: 'y' } },
      { ...good, commands: good.commands.slice(1) },
      { ...good, commands: [...good.commands, good.commands[0]] },
      ...[
        { op: 'observe', observations: [] },
        { op: 'nothing' },
        { op: 'annotate', note: 'x', position: { after: 99 } },
        { op: 'annotate', note: 'x', position: { after: -1 } },
        { op: 'insert', parent: '^ah', node: {}, at_ns: '1e9' },
        { op: 'commit', at_ns: '-1' },
        { op: 'commit', __proto_: 1 },
      ].map((step) => ({
        ...good,
        commands: good.commands.with(-1, { ...good.commands.at(-1), steps: [step] }),
      })),
    ];
    for (const value of hostile)
      await expect(home.operations.experiments.run(JSON.stringify(value))).rejects.toMatchObject({
        code: 'E_EXPERIMENT_INVALID',
      });
    await expect(home.operations.experiments.run('{')).rejects.toMatchObject({ code: 'E_INPUT_TRUNCATED' });
    await expect(home.operations.experiments.run('[1]]')).rejects.toMatchObject({ code: 'E_INPUT_NOT_JSON' });
    expect(await home.read.histories()).toHaveLength(before);
    await home.close();
  },
);
