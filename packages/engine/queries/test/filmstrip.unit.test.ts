import { listSnapshots, readTipSeq } from '@stemma/history-store';
import type { Projector } from '@stemma/projector';
import { listBranches } from '@stemma/read-models';
import { HISTORY, sized } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { listFilmCells } from '../src/filmstrip/filmstrip.ts';
import type { FilmCell, FilmCursor } from '../src/filmstrip/types.ts';
import { openCounts } from '../src/prompts/measure.ts';
import { listPromptSizes } from '../src/prompts/sizes.ts';
import { longHistory } from './long-history.ts';
import { HISTORIES } from './recorded/keeps-answers.ts';
import { recordedHistories } from './recorded/recorded-histories.ts';

const counts = openCounts();

const pages = async (projector: Projector, history: string, limit: number): Promise<readonly FilmCell[]> => {
  const cells: FilmCell[] = [];
  for (let after: FilmCursor | null | undefined; after !== null;) {
    const page = await listFilmCells(projector, history, counts, {
      limit,
      ...(after === undefined ? {} : { after }),
    });
    expect(page.cells.length).toBeLessThanOrEqual(limit);
    cells.push(...page.cells);
    after = page.next;
  }
  return cells;
};

test('page after page the filmstrip has every call of every branch once, with the sizes that are listed of the branch', async () => {
  const { projector } = await recordedHistories();
  for (const history of HISTORIES) {
    const all = await pages(projector, history, 10_000);
    for (const limit of [1, 3, 7]) expect(await pages(projector, history, limit)).toEqual(all);
    const branches = await projector.read((rows) => listBranches(rows, history));
    const own = await projector.read((rows) =>
      branches.flatMap(({ branchId }) =>
        listSnapshots(rows, history, branchId, readTipSeq(rows, history, branchId), { first: 'oldest' })
          .filter((snapshot) => snapshot.branchId === branchId)
          .map(({ cycle }) => `${branchId}.${cycle}`),
      ),
    );
    expect(all.map(({ branchId, cycle }) => `${branchId}.${cycle}`)).toEqual(own);
    for (const { branchId } of branches) {
      const branchRef = { history, branchId, branch: history };
      const { sizes } = await listPromptSizes(projector, branchRef, counts);
      for (const { cycle, messages, tokens, roles, entered, removed } of sizes.filter(
        (size) => size.branchId === branchId,
      )) {
        const cell = all.find((each) => each.branchId === branchId && each.cycle === cycle);
        expect(cell).toMatchObject({ messages, tokens, roles });
        if (cell?.came != null) expect(cell.came.messages).toBe(entered);
        if (cell?.left != null) expect(cell.left.messages).toBe(removed);
      }
    }
  }
});

test('of a full thread the tokens of a call are those of the call before, with what came and without what left, unless messages changed', async () => {
  const { projector } = await longHistory(sized(300, 3_000));
  const cells = await pages(projector, HISTORY, 1_000);
  for (const [i, { tokens, came, left }] of cells.entries()) {
    const before = cells[i - 1]?.tokens ?? 0;
    expect(before + (came?.tokens ?? 0) - (left?.tokens ?? 0)).toBe(tokens);
  }
});

test('a page of 100 calls reads a few rows for each, wherever it is in a long history', async () => {
  const calls = sized(1_000, 10_000);
  const { projector, reads } = await longHistory(calls);
  const rowsOf = async (cycle: number): Promise<number> => {
    reads.rows = 0;
    await listFilmCells(projector, HISTORY, counts, { limit: 100, after: { branchId: 0, cycle } });
    return reads.rows;
  };
  const early = await rowsOf(100);
  expect(early).toBeLessThan(700);
  expect(Math.abs((await rowsOf(calls - 200)) - early)).toBeLessThan(20);
});
