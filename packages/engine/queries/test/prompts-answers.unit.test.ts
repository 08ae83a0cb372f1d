import { branchRefOf } from '@stemma/history-store';
import { openQuestions } from '../src/prompts/questions.ts';
import { openTreeLoader } from '../src/selection/load-tree.ts';
import { findServedBranch } from '../src/served-histories.ts';
import { followLog } from '../src/follow.ts';
import { ALPHA, BETA, GAMMA, HISTORIES, keepsAnswers, RICH, type Asking } from './recorded/keeps-answers.ts';

const questionsOf = ({ projector, log, read }: Asking) =>
  openQuestions({
    projection: projector,
    load: openTreeLoader(),
    find: (name) => read((view) => findServedBranch(view, name)),
    follow: (options) => followLog(log, projector, options),
  });

keepsAnswers('who wrote the bytes', async (asking) => {
  const { ask, draw, positionsOf } = asking;
  const questions = questionsOf(asking);
  for (const history of HISTORIES)
    for (const position of await positionsOf(history, 14)) {
      const whole = await questions.blame(position);
      const from = draw(whole.bytes + 2);
      const range = { from, to: from + draw(90) };
      await ask(`@s${position.seq}`, () => whole);
      await ask(`@s${position.seq} parts`, () =>
        whole.parts.map(({ part, node, origin, from: at }) => [part, node, origin, at]),
      );
      await ask(`@s${position.seq} ${JSON.stringify(range)}`, () => questions.blame(position, range));
      const [some] = whole.parts.slice(draw(whole.parts.length));
      if (some !== undefined) await ask(`@s${position.seq} a part`, () => questions.blame(position, some));
    }
});

keepsAnswers('prefix caches', async (asking) => {
  const { ask, branchesOf } = asking;
  const questions = questionsOf(asking);
  for (const history of HISTORIES)
    for (const branchRef of await branchesOf(history)) {
      const { steps, ...rest } = await questions.cache(branchRef);
      await ask(`branch ${branchRef.branchId}`, () => rest);
      for (const step of steps) await ask(`branch ${branchRef.branchId}, step`, () => step);
    }
});

keepsAnswers('bisections', async (asking) => {
  const { ask, draw, positionsOf } = asking;
  const questions = questionsOf(asking);
  for (const history of RICH) {
    const ends = (await positionsOf(history, 200)).filter(({ committed }) => committed);
    for (let i = 0; i < 60; i++) {
      const [good, bad] = [`@s${draw.of(ends)?.seq}`, `@s${draw.of(ends)?.seq}`];
      const when =
        draw.of(['^sys .cb', ".cb[role='tool']", '.mc', ".cb[role='user']", '.mt:depth(2)']) ?? '*';
      const question = { good, bad, when, ...(draw(2) === 0 ? { not: draw(2) === 0 } : {}) };
      await ask(JSON.stringify(question), () => questions.bisect(branchRefOf(history, 0), question));
    }
  }
  for (const [good, bad, when] of [
    ['', '@c1', '.cb'],
    ['@c1', '@c2', '@c1 .cb'],
    ['@c1', '@c2', '.cb['],
    ['@c1', '@c999', '.cb'],
  ] as const)
    await ask(`${good} ${bad} ${when}`, () => questions.bisect(branchRefOf(ALPHA, 0), { good, bad, when }));
});

keepsAnswers('watched selectors', async (asking) => {
  const { ask, projector, read, log } = asking;
  const beginning = Array.from({ length: log.partitions }, () => 0).join();
  const watched = async (name: string, selector: string, after: string): Promise<unknown[]> => {
    const stop = new AbortController();
    const messages: unknown[] = [];
    // The log has ended when all that was followed has been looked at.
    const end = await Promise.all(
      Array.from({ length: log.partitions }, (_, partition) => log.end(partition)),
    );
    const questions = openQuestions({
      projection: projector,
      load: openTreeLoader(),
      find: (asked) => read((view) => findServedBranch(view, asked)),
      async *follow(options) {
        for await (const batch of followLog(log, projector, options)) {
          yield batch;
          if (batch.cursor === `${log.id}:${end.join()}`) return;
        }
      },
    });
    for await (const { cursor, ...message } of questions.watch(name, selector, {
      signal: stop.signal,
      after,
    }))
      messages.push([cursor.slice(cursor.lastIndexOf(':')), message]);
    stop.abort();
    return messages;
  };
  for (const name of [ALPHA, BETA, GAMMA, `${ALPHA}:0`])
    for (const [selector, position] of [
      ['.cb', '0.0'],
      ['@t0 .cb', '0.0'],
      ['@t-1 .cb', '0.9'],
      ["^sys .cb[role='user']", '0.30'],
      [' @t0  .mt', '0.5'],
    ] as const)
      await ask(`${name} ${selector} ${position}`, () =>
        watched(name, selector, `${log.id}:${beginning}~${position}`),
      );
  for (const after of [
    'x',
    `${log.id}:0~0.0`,
    `${log.id}:9999999,0~0.0`,
    `other:${beginning}~0.0`,
    `${log.id}:${beginning}~99.1`,
  ])
    await ask(`after ${after}`, () => watched(ALPHA, '.cb', after));
  for (const selector of ['@c1 .cb', '@t0..@t-1 .cb', '.cb['])
    await ask(`watch ${selector}`, () => watched(ALPHA, selector, `${log.id}:${beginning}~0.0`));
});
