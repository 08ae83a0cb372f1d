import type { Command } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import { openBranches } from '../src/branches/branches.ts';
import type { UnresolvedStep } from '../src/branches/resolve-steps.ts';
import { followFrom, followLog, readFrameEvents } from '../src/follow.ts';
import { listHistoryPage, oneHistory, snapshotsOf, treeAt, viewOf } from '../src/read.ts';
import { findServedBranch, findServedPosition } from '../src/served-histories.ts';
import {
  ALPHA,
  BETA,
  DELTA,
  GAMMA,
  HISTORIES,
  keepsAnswers,
  RICH,
  OMEGA,
  type Asking,
} from './recorded/keeps-answers.ts';

const branchesIn = ({ projector }: Asking, submitted: Command[] = []) =>
  openBranches(projector, (command) => {
    submitted.push(command);
    return Promise.reject(new Error('nothing is submitted'));
  });

keepsAnswers('branches', async (asking) => {
  const { ask, branchesOf, positionsOf, draw, read } = asking;
  const branches = branchesIn(asking);
  for (const history of HISTORIES) {
    for (const node of await branches.tree(history)) await ask(`branch ${node.branchId}`, () => node);
    for (const saved of await branches.saved(history)) await ask('saved', () => saved);
    const refs = await branchesOf(history);
    for (const branchRef of refs) {
      const { branchId } = branchRef;
      await ask(`ancestors of ${branchId}`, async () =>
        (await branches.ancestors(branchRef, `${branchId}`)).map((each) => each.branchId),
      );
      await ask(`observed ${branchId}`, () => branches.isObserved(branchRef));
      for (const position of await positionsOf(history, 6))
        await ask(`${branchId} to @s${position.seq}`, () => branches.howToContinue(branchRef, position));
      await ask(`snapshots of ${branchId}`, () => read((view) => snapshotsOf(view, branchRef)));
      for (const page of [{ before: 0 }, { before: 3 }, { limit: 2 }, { before: 4, limit: 2 }])
        await ask(`snapshots of ${branchId} ${JSON.stringify(page)}`, async () =>
          (await read((view) => snapshotsOf(view, branchRef, page))).map(({ label, seq }) => [label, seq]),
        );
    }
    for (const position of await positionsOf(history, 10)) {
      await ask(`configuration at @s${position.seq}`, () => branches.config(position));
      const branchRef = draw.of(refs) ?? branchRefOf(history, 0);
      await ask(`ancestors at @s${position.seq}`, () => branches.ancestors(branchRef, `@s${position.seq}`));
    }
    for (const page of [{}, { from: 20 }, { limit: 2 }, { actor: 'ana', from: 3 }])
      await ask(`observations ${JSON.stringify(page)}`, () => branches.observations(history, page));
  }
  await ask('all that is saved', async () => (await branches.saved()).map(({ id, branch }) => [id, branch]));
  await ask('saved in none', () => branches.saved('hnone'));
});

keepsAnswers('resolved commands', async (asking) => {
  const { ask, commands, draw, branchesOf, positionsOf, read } = asking;
  const branches = branchesIn(asking);
  const found = (history: string) => read((view) => findServedBranch(view, history));
  for (const { id, history, steps, branchId } of commands) {
    const asked = steps.map((step): UnresolvedStep => {
      if (step.op === 'fork') return { ...step, at: '@t0' };
      if (step.op === 'rollback') return { ...step, to: '@t-1' };
      if (step.op === 'run') return { ...step, since: '' };
      if ('position' in step) return { ...step, position: '@t-1' };
      return step;
    });
    await ask(`repeated ${id}`, async () => branches.resolveSteps(await found(history), id, asked));
    await ask(`loaded ${id}`, async () =>
      branches.resolveSteps(await found(history), id, [{ op: 'load', from: '@t-1', name: 'again' }]),
    );
    await ask(`at branch ${branchId}: ${id}`, async () =>
      branches.resolveSteps(branchRefOf(history, branchId), id, [
        { op: 'name', name: 'n', position: '@c1' },
        { op: 'annotate', note: 'n', position: `${branchId}@c1` },
      ]),
    );
    await ask(`intervention ${id}`, () => branches.interventionPosition(history, id));
  }
  for (const history of [ALPHA, DELTA])
    for (const branchRef of await branchesOf(history))
      for (const position of await positionsOf(history, 3)) {
        const from = draw(2) === 0 ? `@s${position.seq}` : '@t0';
        for (const description of [undefined, 'why'])
          await ask(`load ${branchRef.branchId} ${from}`, () =>
            branches.resolveSteps(branchRef, 'a new command', [
              { op: 'annotate', note: 'first', position: from },
              { op: 'load', from, name: null, ...(description === undefined ? {} : { description }) },
            ]),
          );
      }
  for (const name of [`${ALPHA}:0`, `${ALPHA}:12`, ALPHA, 'alpha:0', `${ALPHA}:01`, `${ALPHA}:fork-1`])
    for (const steps of [
      [{ op: 'commit' }],
      [{ op: 'load', from: '@c1', name: null }],
      [{ op: 'name', position: '@c1' }],
    ])
      await ask(`exact ${name} ${JSON.stringify(steps)}`, () => branches.findExact(name, steps));
});

keepsAnswers('observed positions', async (asking) => {
  const submitted: Command[] = [];
  const branches = branchesIn(asking, submitted);
  const [position] = await asking.positionsOf(ALPHA, 1);
  if (position === undefined) return;
  const seen = [{ kind: 'opened', what: 'it', position, times: 2, firstAt: 1n, lastAt: 2n }] as const;
  for (const history of RICH)
    for (const branchRef of await asking.branchesOf(history)) {
      await asking.ask(`nothing seen in ${branchRef.branchId}`, () =>
        branches.observe(branchRef, 'ana', [], 'one'),
      );
      await asking.ask(`seen in ${branchRef.branchId}`, () =>
        branches.observe(branchRef, 'ana', seen, 'one').catch(() => submitted.at(-1)),
      );
    }
});

keepsAnswers('positions and histories', async (asking) => {
  const { ask, read, projector, branchesOf, positionsOf, log } = asking;
  await ask('all', () => read((view) => listHistoryPage(view).histories.map(({ name }) => name)));
  for (const history of [...HISTORIES, 'hnone', 'alpha'])
    await ask(`history ${history}`, () => read((view) => oneHistory(view, history)));
  const prefixes = HISTORIES.flatMap((history) => [
    history.slice(0, 3),
    history.slice(0, 4),
    history.slice(0, 9),
  ]);
  for (const name of [
    ...prefixes,
    'alpha',
    'beta',
    'nobody',
    '',
    ':',
    'alpha:main',
    'alpha:0',
    'alpha:00',
    'alpha:99',
    'alpha:fork-3',
    'alpha:left-9',
    `${ALPHA}:main`,
    'al:pha:0',
    ...HISTORIES,
    `${OMEGA}:0`,
    'haaaa',
    'h',
    'hz',
  ])
    await ask(`branch named ${JSON.stringify(name)}`, () => read((view) => findServedBranch(view, name)));
  for (const history of [ALPHA, BETA, GAMMA, OMEGA])
    for (const branchRef of await branchesOf(history))
      for (const ref of [
        '',
        '@t0',
        '@t-1',
        '@t-2',
        '@c0',
        '@c1',
        '@c4',
        '@s0',
        '@s7',
        '@s9999',
        '@name:s9',
        'main@t0',
        `${branchRef.branchId}@t0`,
        '@*',
        '@t0..@t-1',
        'nowhere@t0',
        'beta@c1',
        `${ALPHA}@c1`,
        '@name:nothing',
      ])
        await ask(`${branchRef.branchId} ${JSON.stringify(ref)}`, () =>
          read((view) => findServedPosition(view, branchRef, ref)),
        );
  for (const position of await positionsOf(BETA, 4)) {
    await ask(`tree at @s${position.seq}`, async () => {
      const { tree, thread } = await treeAt(projector, position);
      return [tree.ids, thread];
    });
    await ask(`payloads at @s${position.seq}`, async () => {
      const { tree, payloads } = await viewOf(projector, position);
      return tree.payloads.map((ref) => (ref === null ? null : payloads(ref)));
    });
  }
  const stop = new AbortController();
  const beginning = `${log.id}:${Array.from({ length: log.partitions }, () => 0).join()}`;
  for (const history of [undefined, ALPHA, OMEGA]) {
    const events: unknown[] = [];
    const ends = await Promise.all(
      Array.from({ length: log.partitions }, (_, partition) => log.end(partition)),
    );
    for await (const batch of followLog(log, projector, {
      signal: stop.signal,
      after: beginning,
      ...(history === undefined ? {} : { history }),
    })) {
      events.push(
        batch.events.map(({ history: of, seq, index }) => [of, seq, index]),
        batch.cursor,
      );
      if (batch.cursor === `${log.id}:${ends.join()}` || events.length > 100) break;
      if (history !== undefined && batch.events.length > 0) break;
    }
    await ask(`followed ${history}`, () => events);
  }
  for (const from of [0, 70]) {
    const seqs: unknown[] = [];
    for await (const { events } of followFrom(log, projector, {
      history: ALPHA,
      from,
      signal: stop.signal,
    })) {
      seqs.push(events.map(({ seq, index, branch }) => [seq, index, branch]));
      if (events.some(({ seq }) => seq === 78)) break;
    }
    await ask(`followed from ${from}`, () => seqs);
  }
  for (const seq of [0, 5, 30, 999])
    await ask(`events of frame ${seq}`, () => readFrameEvents(projector, BETA, seq));
});
