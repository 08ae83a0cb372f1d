import { historyId, type Step } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { prose, seeded } from '../text.ts';

/** An agent's cycles: a question, a call, a result that expires after five cycles, an answer; 600 bytes a cycle. */
const record = async (directory: string, cycles: number): Promise<Home> => {
  const home = await openHome({ directory, create: true });
  const history = historyId('agent', '');
  const submit = (id: string, steps: readonly Step[]) =>
    home.submit({ id, history, branchId: 0, by: { recorder: 'bench' }, steps: [...steps] });
  await submit('start', [{ op: 'start', name: 'agent' }]);
  await submit('rules', [{ op: 'insert', parent: '^sys', node: { nodeType: 'cb', content: 'Be brief.' } }]);
  for (let cycle = 1; cycle <= cycles; cycle++) {
    const random = seeded(cycle);
    const block = (role: string, size: number, more: object = {}): Step => ({
      op: 'insert',
      parent: '^ah',
      node: { nodeType: 'cb', role, content: prose(random, size), ...more },
    });
    await submit(`cycle-${cycle}`, [
      block('user', 150),
      block('assistant', 50, { kind: 'call' }),
      block('tool', 300, { kind: 'result', ttl: cycle % 10 === 0 ? 5 : null }),
      block('assistant', 100),
      { op: 'commit' },
    ]);
  }
  return home;
};

const timed = async (rounds: number, fn: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const begun = performance.now();
    await fn();
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[times.length >> 1] as number;
};

/** What the questions about prompts take, by the number of cycles. */
export const questions = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const sizes = quick ? [100] : [100, 1_000, 3_000];
  const rows: string[][] = [];
  const figures: Record<string, Record<string, number>> = {};
  for (const cycles of sizes) {
    const where = join(directory, String(cycles));
    const written = await record(where, cycles);
    await written.find('agent');
    await written.close();
    // A home that was just opened has read nothing yet.
    const home = await openHome({ directory: where });
    const branchRef = await home.find('agent');
    const cacheFirst = await timed(1, () => home.queries.questions.cache(branchRef));
    const cacheAgain = await timed(rounds, () => home.queries.questions.cache(branchRef));
    const blame = await timed(rounds, async () =>
      home.queries.questions.blame(await home.position(branchRef, '@t0')),
    );
    const bisect = await timed(rounds, () =>
      home.queries.questions.bisect(branchRef, {
        good: '@c1',
        bad: '@t0',
        when: `[cycle=${Math.ceil(cycles * 0.7)}]`,
      }),
    );
    await home.close();
    rmSync(where, { recursive: true, force: true });
    figures[cycles] = { cacheFirst, cacheAgain, blame, bisect };
    rows.push([`${figure(cycles)} cycles`, ...[cacheFirst, cacheAgain, blame, bisect].map(figure)]);
  }
  const thousand = figures[1_000];
  const aim = (what: string, key: string): Aim => ({
    what,
    aim: '1,000 ms',
    measured: `${figure(thousand?.[key] ?? Number.NaN)} ms`,
    met: (thousand?.[key] ?? Number.POSITIVE_INFINITY) <= 1_000,
  });
  return {
    name: 'questions',
    tables: [
      {
        title: 'Questions about prompts: blame, cache, bisect',
        columns: ['ms, median', 'cache, first', 'cache, again', 'blame @t0', 'bisect'],
        rows,
        notes: [
          `${rounds} rounds. Four messages and 600 bytes of contents a cycle; every tenth result expires after five cycles.`,
          'cache compares all calls; first: contents are read and their tokens counted, the tokenizer is loaded.',
          'blame names the author of every byte of the newest thread, bisect looks for the cycle at seven tenths.',
        ],
      },
    ],
    aims: quick
      ? []
      : [aim('cache of 1,000 cycles, first', 'cacheFirst'), aim('blame of 1,000 cycles', 'blame')],
    figures,
  };
};
