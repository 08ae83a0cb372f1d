import { branchRefOf } from '@stemma/history-store';
import { listBranches } from '@stemma/read-models';
import { HISTORY, sized } from '@stemma/test-kit';
import { beforeAll, expect, test } from 'vitest';
import { listCalls } from '../src/prompts/calls.ts';
import { openCounts, openMeasures, type Counts } from '../src/prompts/measure.ts';
import { sizesOfTimeline } from '../src/prompts/sizes-of-timeline.ts';
import { listPromptSizes, openKnownSizes } from '../src/prompts/sizes.ts';
import { longHistory, type LongHistory } from './long-history.ts';
import { HISTORIES } from './recorded/keeps-answers.ts';
import { recordedHistories } from './recorded/recorded-histories.ts';

test('the sizes of calls, page after page or from anywhere, are those that all of them add up to [context-tree §4: provider thread]', async () => {
  const { projector } = await recordedHistories();
  const counts = openCounts();
  let compared = 0;
  for (const history of HISTORIES) {
    const branches = await projector.read((rows) =>
      listBranches(rows, history).map(({ branchId }) => branchRefOf(history, branchId)),
    );
    const measures = await openMeasures(projector, history, counts);
    const known = openKnownSizes();
    for (const branchRef of branches) {
      const all = await sizesOfTimeline(projector, branchRef, measures);
      const newest = all.at(-1)?.cycle ?? 0;
      for (const kept of [known, openKnownSizes()])
        for (const after of [-1, 0, Math.floor(newest / 2), newest - 1, newest, 1e9])
          for (const limit of [1, 3, Infinity]) {
            const page = await listPromptSizes(projector, branchRef, counts, kept, { after, limit });
            const wanted = all.filter(({ cycle }) => cycle > after);
            expect(page.sizes).toEqual(wanted.slice(0, limit));
            expect(page.hasMore).toBe(wanted.length > limit);
            compared += page.sizes.length;
          }
    }
  }
  expect(compared).toBeGreaterThan(1_000);
});

const CYCLES = sized(3_000, 10_000);
const branch = { history: HISTORY, branchId: 0, branch: HISTORY };
let long: LongHistory;

beforeAll(() => {
  long = longHistory(CYCLES);
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

test('a page of 100 sizes reads a row for each call once those before were asked for, and few more when calls have come since', async () => {
  const counts = openCounts();
  const known = openKnownSizes();
  const page = (after: number) => () =>
    listPromptSizes(long.projector, branch, counts, known, { after, limit: 100 });
  await page(CYCLES - 1_000)();
  expect(await rowsOf(page(CYCLES - 1_000))).toBeLessThan(110);
  await page(CYCLES - 200)();
  const fresh = {
    get: (key: string) => (Number(key.split(' ')[0]) > CYCLES - 100 ? undefined : known.get(key)),
    set: () => undefined,
  };
  const since = (): Promise<unknown> =>
    listPromptSizes(long.projector, branch, counts, fresh, { after: CYCLES - 100, limit: 100 });
  expect(await rowsOf(since)).toBeLessThan(8_000);
});

test('the first page of sizes reads what is on it and the thread before it, and counts no content after it', async () => {
  const first = async (after: number): Promise<{ readonly rows: number; readonly counted: number }> => {
    const counts = openCounts();
    let counted = 0;
    const counting: Counts = {
      get: (key) => counts.get(key),
      set: (key, content) => {
        counted++;
        counts.set(key, content);
      },
    };
    const rows = await rowsOf(() =>
      listPromptSizes(long.projector, branch, counting, openKnownSizes(), { after, limit: 100 }),
    );
    return { rows, counted };
  };
  const early = await first(100);
  expect(early.rows).toBeLessThan(12_000);
  expect(early.counted).toBeLessThan(500);
  const late = await first(CYCLES / 2);
  // Three rows a call are read of the thread before it: two messages and a turn.
  expect(late.rows).toBeLessThan(early.rows + 1.6 * CYCLES);
  expect(late.counted).toBeLessThan(1.1 * CYCLES);
});
