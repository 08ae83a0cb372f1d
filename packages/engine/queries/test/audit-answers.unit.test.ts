import { branchRefOf } from '@stemma/history-store';
import { listInterventions } from '@stemma/read-models';
import { openAudit } from '../src/audit/audit.ts';
import type { InterventionFilter, InterventionWindow } from '../src/audit/intervention-types.ts';
import { openCauses } from '../src/causes/causes.ts';
import { listEventsOfNode } from '../src/causes/why.ts';
import { pathTo } from '../src/impact/path.ts';
import { frameSummariesBetween } from '../src/merge-base.ts';
import { diffPositions } from '../src/selection/diff-positions.ts';
import { openTreeLoader } from '../src/selection/load-tree.ts';
import { restrictExplained } from '../src/selection/restrict-explained.ts';
import { ALPHA, BETA, GAMMA, HISTORIES, keepsAnswers, RICH } from './recorded/keeps-answers.ts';

keepsAnswers('comparisons', async ({ ask, draw, read, positionsOf, branchesOf, projector }) => {
  const audit = openAudit(projector);
  for (const history of RICH) {
    const positions = await positionsOf(history, 40);
    for (let i = 0; i < 20; i++) {
      const [a, b] = [draw.of(positions), draw.of(positions)];
      const [from, to] = [`@s${a?.seq}`, `@s${b?.seq}`];
      await ask(`${from} ${to}`, () =>
        audit.compare(branchRefOf(history, 0), from, to, { excerpt: 1 + draw(20) }),
      );
    }
    const branches = await branchesOf(history);
    for (const { branchId } of branches)
      await ask(`branch ${branchId}`, () =>
        audit.compare(branchRefOf(history, draw.of(branches)?.branchId ?? 0), `${branchId}`, 'main'),
      );
    for (const [from, to] of [
      [0, 9],
      [3, 3],
      [7, 5],
      [30, 10_000],
    ] as const)
      await ask(`frames ${from} to ${to}`, () =>
        read((view) => [...frameSummariesBetween(view, history, from, to)].map(({ seq }) => seq)),
      );
  }
  for (const text of ['', '@c1', '@c99', 'nowhere', BETA, '@c1..@c2', 'main@c1'])
    await ask(JSON.stringify(text), () => audit.compare(branchRefOf(ALPHA, 0), text, '@s0'));
});

keepsAnswers('interventions', async ({ ask, read, projector, branchesOf, commands }) => {
  const audit = openAudit(projector);
  const at = (index: number): bigint => 1_700_000_000_000_000_000n + BigInt(index) * 1_234_567n;
  const filters: readonly InterventionFilter[] = [
    {},
    { actor: 'ana' },
    { type: 'edit' },
    { type: 'fork', actor: 'ben' },
    { after: at(60) },
    { before: at(60) },
    { after: at(40), before: at(90) },
    { snapshot: '@c1' },
    { snapshot: '@s9' },
    { branch: '0' },
    { branch: 'main', type: 'save' },
    { branch: 'nowhere' },
  ];
  const windows: readonly InterventionWindow[] = [
    {},
    { limit: 3 },
    { newest: true },
    { newest: true, limit: 2, from: 30 },
    { from: 20, limit: 4 },
    { newest: false, limit: 1 },
  ];
  for (const history of RICH) {
    for (const filter of filters)
      for (const window of windows)
        await ask(`page ${JSON.stringify([Object.entries(filter).map(String), window])}`, async () => {
          const { interventions, next } = await audit.interventions(branchRefOf(history, 0), filter, window);
          return [next, interventions.map(({ seq, id }) => [seq, id])];
        });
    const each: unknown[] = [];
    for await (const { seq } of audit.eachIntervention(branchRefOf(history, 0), { actor: 'ben' }))
      each.push(seq);
    await ask('each of ben', () => each);
    for (const { branchId } of await branchesOf(history))
      await ask(`of branch ${branchId}`, async () => {
        const { interventions } = await audit.interventions(branchRefOf(history, 0), {
          branch: `${branchId}`,
        });
        return interventions.map(({ seq }) => seq);
      });
    const { rows } = await read((view) => listInterventions(view, history));
    for (const { seq, id } of rows) {
      await ask(`by id ${id}`, () => audit.intervention(history, id));
      await ask(`by frame ${seq}`, async () => (await audit.intervention(history, `@s${seq}`)).id);
    }
  }
  for (const id of ['', '@s', '7', 's8', '@s9', '@s10', 'x11', '12x', commands[0]?.id ?? '', '@s999'])
    await ask(JSON.stringify(id), async () => (await audit.intervention(ALPHA, id)).id);
});

keepsAnswers('impact', async ({ ask, read, projector }) => {
  const audit = openAudit(projector);
  for (const history of HISTORIES) {
    const { rows } = await read((view) => listInterventions(view, history));
    for (const { id } of rows) {
      await ask(`impact of ${id}`, () => audit.impact(history, id));
      await ask(`impact of ${id}, all but its calls`, async () => {
        const { calls, ...rest } = await audit.impact(history, id);
        return {
          lost: rest.lost,
          branches: rest.branches,
          brought: rest.brought,
          counts: rest.counts,
          calls: calls.length,
        };
      });
      await ask(`impact of ${id}, its blocks`, async () => (await audit.impact(history, id)).blocks);
      await ask(`paths to ${id}`, async () => {
        const impact = await audit.impact(history, id);
        return impact.calls.map((call) => [pathTo(impact, call), pathTo(impact, call, 1).length]);
      });
    }
  }
  await ask('no intervention', () => audit.impact(ALPHA, '@s0'));
});

keepsAnswers('causes', async ({ ask, draw, idsOf, positionsOf, projector }) => {
  const causes = openCauses(projector);
  const sources = { projection: projector, load: openTreeLoader() };
  for (const history of [...RICH, GAMMA]) {
    const positions = await positionsOf(history, 30);
    for (let i = 0; i < 16; i++) {
      const [a, b] = [draw.of(positions), draw.of(positions)];
      if (a === undefined || b === undefined) continue;
      await ask(`explain @s${a.seq} @s${b.seq}`, () => causes.explain(a, b));
      await ask(`moves @s${a.seq} @s${b.seq}`, async () => {
        const { moves, mergeBase, entries } = await causes.explain(a, b);
        return [moves, mergeBase, entries.map(({ bytes }) => bytes)];
      });
      const selector = draw.of(['.cb', '^sys .cb', ".cb[role='user']", '.mc']) ?? '*';
      await ask(`restricted @s${a.seq} @s${b.seq} ${selector}`, async () =>
        restrictExplained(await causes.explain(a, b), await diffPositions(sources, a, b, selector)),
      );
    }
    const ids = await idsOf(history);
    const position = draw.of(positions);
    for (const [i, id] of ids.entries()) {
      if (position !== undefined) await ask(`why ${id}`, () => causes.why(position, id));
      const page = { from: draw(40), limit: 1 + draw(3) };
      await ask(`events of ${id}`, async () =>
        (await listEventsOfNode(projector, history, id)).map(({ seq, index, event }) => [
          seq,
          index,
          event.type,
        ]),
      );
      if (i % 4 === 0)
        await ask(`events of ${id} ${JSON.stringify(page)}`, async () =>
          (await listEventsOfNode(projector, history, id, page)).map(({ seq, index }) => [seq, index]),
        );
    }
    await ask('events of nobody', () => listEventsOfNode(projector, history, 'nobody'));
  }
});
