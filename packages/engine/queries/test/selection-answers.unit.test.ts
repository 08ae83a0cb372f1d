import { branchRefOf } from '@stemma/history-store';
import { isFrameOfBranch } from '../src/stages/is-frame-of-branch.ts';
import { diffPositions } from '../src/selection/diff-positions.ts';
import { openTreeLoader } from '../src/selection/load-tree.ts';
import { selectIds } from '../src/selection/select-ids.ts';
import { selectRange } from '../src/selection/select-range.ts';
import { entryDocument, stagesDocument } from '../src/stages/documents.ts';
import { openStages } from '../src/stages/open-stages.ts';
import type { StagesSettings } from '../src/stages/types.ts';
import { GAMMA, HISTORIES, keepsAnswers, RICH } from './recorded/keeps-answers.ts';

const SELECTORS = [
  '.cb',
  '^sys .cb',
  '^ah *',
  ".cb[role='user']",
  '.mt:depth(1-2) .cb',
  '*:age(0-1)',
  '.mc > .cb:first',
];

keepsAnswers('selections', async ({ ask, draw, projector, branchesOf, positionsOf }) => {
  for (const history of [...RICH, GAMMA]) {
    const sources = { projection: projector, load: openTreeLoader() };
    const refs = await branchesOf(history);
    for (const selector of SELECTORS) {
      for (const at of ['', '@t0', '@c2', '@c3', '@*', '@c99', '@t0..@t-1']) {
        const branchRef = draw.of(refs) ?? branchRefOf(history, 0);
        const window = draw(2) === 0 ? {} : { skip: draw(3), limit: 1 + draw(4) };
        await ask(`${branchRef.branchId} ${at} ${selector} ${JSON.stringify(window)}`, () =>
          selectIds(sources, branchRef, `${at} ${selector}`, window),
        );
      }
      for (const range of ['@t0..@t-2', '@t-1..@t0', '@c1..@c4', '@t-99..@t0', '@t0..@t0', '@c2'])
        for (const options of [{}, { includeContent: true }, { maxSnapshots: 2 }])
          await ask(`${range} ${selector} ${JSON.stringify(options)}`, () =>
            selectRange(sources, draw.of(refs) ?? branchRefOf(history, 0), `${range} ${selector}`, options),
          );
    }
    const positions = await positionsOf(history, 30);
    for (let i = 0; i < 20; i++) {
      const [a, b] = [draw.of(positions), draw.of(positions)];
      if (a === undefined || b === undefined) continue;
      const text = draw.of([undefined, ...SELECTORS, '@c1 .cb', '.cb[']);
      await ask(`difference @s${a.seq} @s${b.seq} ${text}`, () => diffPositions(sources, a, b, text));
    }
  }
});

const SETTINGS: readonly StagesSettings[] = [
  {},
  { profile: 'breadboard-0.1' },
  { config: { header: { mode: 'sanitized_content', preview_chars: 9 }, selection: { max_nodes: 3 } } },
  { profile: 'breadboard-0.1', config: { header: { mode: 'sanitized_content' }, collapse: { target: 2 } } },
  {
    config: {
      prompt_summary: {
        text: 'a secret',
        list: ['one', 2, null],
        hash: 'a'.repeat(64),
        short: 'b'.repeat(40),
      },
    },
  },
  { config: { frozen: { mode: 'mirror' }, collapse: { target: 1 } } },
  { config: { nothing: 1 } },
];

keepsAnswers('compiler stages', async ({ ask, draw, read, projector, branchesOf, positionsOf }) => {
  for (const history of HISTORIES) {
    const stages = openStages(projector);
    const positions = await positionsOf(history, 5);
    for (const [i, position] of positions.entries()) {
      const settings = SETTINGS[i % SETTINGS.length] ?? {};
      for (const each of [settings, {}]) {
        await ask(`compiled @s${position.seq} ${JSON.stringify(each)}`, async () =>
          stagesDocument(await stages.compile(position, each)),
        );
        await ask(`answered @s${position.seq} ${JSON.stringify(each)}`, async () => {
          const { compiler: _compiler, ...rest } = await stages.compile(position, each);
          return rest;
        });
        for (const stage of ['RAW', 'SPEC', 'HEADER', 'FROZEN'] as const)
          await ask(`tree @s${position.seq} ${stage}`, () =>
            stages.tree(position, { stage, includePreviews: draw(2) === 0 }, each),
          );
      }
      const page = { offset: draw(5), limit: 1 + draw(6) };
      await ask(`stream @s${position.seq} ${JSON.stringify(page)}`, () => stages.stream(position, page));
      const lines: unknown[] = [];
      for await (const line of stages.eventLog(position)) lines.push(line);
      await ask(`event log @s${position.seq}`, () => lines);
      const other = draw.of(positions);
      if (other !== undefined)
        await ask(`stages @s${position.seq} @s${other.seq}`, () => stages.diff(position, other, settings));
    }
    const refs = await branchesOf(history);
    for (const { branchId } of refs)
      for (let seq = 0; seq < 80; seq += 11) {
        const frame = { branchId: draw.of(refs)?.branchId ?? 0, seq };
        await ask(`${branchId} has ${frame.branchId}@${seq}`, () =>
          read((view) => isFrameOfBranch(view, { history, branchId }, frame)),
        );
        await ask(`frame ${seq} of ${branchId}`, async () =>
          (await stages.frame({ history, branchId }, seq)).map(entryDocument),
        );
      }
  }
});
