import { branchRefOf } from '@stemma/history-store';
import { listBranches } from '@stemma/read-models';
import { HISTORY, sized } from '@stemma/test-kit';
import { beforeAll, expect, test } from 'vitest';
import { listCalls } from '../src/prompts/calls.ts';
import { openCounts, openMeasures } from '../src/prompts/measure.ts';
import { sizesOfTimeline } from '../src/prompts/sizes-of-timeline.ts';
import { listPromptSizes } from '../src/prompts/sizes.ts';
import { longHistory, type LongHistory } from './long-history.ts';
import { HISTORIES } from './recorded/keeps-answers.ts';
import { recordedHistories } from './recorded/recorded-histories.ts';

test(
  'the sizes of calls, page after page or from anywhere, are those that all of them add up to',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    const { projector } = await recordedHistories();
    const counts = openCounts();
    let compared = 0;
    for (const history of HISTORIES) {
      const branches = await projector.read((rows) =>
        listBranches(rows, history).map(({ branchId }) => branchRefOf(history, branchId)),
      );
      const measures = await openMeasures(projector, history, counts);
      for (const branchRef of branches) {
        const all = await sizesOfTimeline(projector, branchRef, measures);
        const newest = all.at(-1)?.cycle ?? 0;
        for (const after of [-1, 0, Math.floor(newest / 2), newest - 1, newest, 1e9])
          for (const limit of [1, 3, Infinity]) {
            const page = await listPromptSizes(projector, branchRef, counts, { after, limit });
            const wanted = all.filter(({ cycle }) => cycle > after);
            expect(page.sizes).toEqual(wanted.slice(0, limit));
            expect(page.hasMore).toBe(wanted.length > limit);
            compared += page.sizes.length;
          }
      }
    }
    expect(compared).toBeGreaterThan(1_000);
  },
);

const CYCLES = sized(3_000, 10_000);
const branch = { history: HISTORY, branchId: 0, branch: HISTORY };
let long: LongHistory;

beforeAll(async () => {
  long = await longHistory(CYCLES);
}, 600_000);

/** The rows that a question reads. */
const rowsOf = async (ask: () => Promise<unknown>): Promise<number> => {
  long.reads.rows = 0;
  await ask();
  return long.reads.rows;
};

test('a page of 100 calls reads as many rows at the end of a long history as at its beginning', async () => {
  const page = (after: number) => async (): Promise<void> => {
    let count = 0;
    for await (const _ of listCalls(long.projector, branch, { after })) if (++count === 100) return;
  };
  const early = await rowsOf(page(100));
  expect(early).toBeLessThan(1_200);
  for (const after of [CYCLES / 2, CYCLES - 200]) expect(await rowsOf(page(after))).toBeLessThan(1.1 * early);
});

test('a page of 100 sizes reads a few rows for each call, wherever it is in a long history, and counts nothing', async () => {
  const counts = { get: () => undefined, set: () => expect.unreachable() };
  const page = (after: number) => () =>
    listPromptSizes(long.projector, branch, counts, { after, limit: 100 });
  const early = await rowsOf(page(100));
  expect(early).toBeLessThan(350);
  for (const after of [0, CYCLES / 2, CYCLES - 200])
    expect(Math.abs((await rowsOf(page(after))) - early)).toBeLessThan(5);
});
