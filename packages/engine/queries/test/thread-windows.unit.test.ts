import { branchRefOf, listSnapshots, readTipSeq, type Position } from '@stemma/history-store';
import { listBranches } from '@stemma/read-models';
import { HISTORY } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { explainPositions } from '../src/causes/explain.ts';
import { blameThread } from '../src/prompts/blame.ts';
import { openFrames } from '../src/prompts/origin.ts';
import { positionOf } from '../src/read.ts';
import { openThreadReader, type ThreadWindow } from '../src/threads/thread-part.ts';
import { longHistory } from './long-history.ts';
import { HISTORIES } from './recorded/keeps-answers.ts';
import { drawFrom } from './recorded/random-commands.ts';
import { recordedHistories } from './recorded/recorded-histories.ts';

/** The parts of a window that lie in a range, with their texts and nodes. */
const partsIn = ({ tree, text, start, parts }: ThreadWindow, from: number, to: number): unknown[] =>
  parts
    .filter((part) => part.from < to && part.to > from)
    .map(({ part, index, ...at }) => ({
      ...{ part, node: index === null ? null : tree.ids[index], ...at },
      text: text.slice(Math.max(from, at.from) - start, Math.min(to, at.to) - start),
    }));

test(
  'a part of the thread that is read alone is what the whole thread has there',
  { tags: ['context-tree§4:provider-thread'], timeout: 120_000 },
  async () => {
    const { projector } = await recordedHistories();
    const draw = drawFrom(3);
    let [compared, apart] = [0, 0];
    for (const history of HISTORIES) {
      const positions = await projector.read((rows) =>
        listBranches(rows, history).flatMap(({ branchId }) => {
          const tip = readTipSeq(rows, history, branchId);
          const seqs = listSnapshots(rows, history, branchId, tip).map(({ seq }) => seq);
          return [tip, ...seqs].map((seq) => positionOf(rows, branchRefOf(history, branchId), `@s${seq}`));
        }),
      );
      for (const position of positions) {
        const reader = openThreadReader(projector, openFrames(projector, history), position, {
          locationsAtFirst: 1,
        });
        const whole = await openThreadReader(projector, openFrames(projector, history), position).whole();
        const length = await reader.length();
        if (length !== null) expect(length).toBe(whole.length);
        for (let i = 0; i < 4; i++) {
          const from = draw(whole.length);
          const to = Math.min(whole.length, from + 1 + draw(200));
          const window = await reader.range({ from, to });
          expect(partsIn(window, from, to)).toEqual(partsIn(whole, from, to));
          compared++;
          if (window.tree.count < whole.tree.count) apart++;
        }
      }
    }
    expect(compared).toBeGreaterThan(500);
    expect(apart).toBeGreaterThan(100);
  },
);

test('who wrote a range of bytes, and the ranges of what neighbours differ in, are read without the rest of a long history', async () => {
  const cycles = 2_000;
  const { projector, reads } = await longHistory(cycles);
  const at = (ref: string): Promise<Position> =>
    projector.read((rows) => positionOf(rows, branchRefOf(HISTORY, 0), ref));
  const tip = await at('@t0');
  const rowsOf = async (ask: () => Promise<unknown>): Promise<number> => {
    reads.rows = 0;
    await ask();
    return reads.rows;
  };
  const { bytes } = await blameThread(projector, tip);
  for (const from of [3_000, bytes - 4_000])
    expect(await rowsOf(() => blameThread(projector, tip, { from, to: from + 1_000 }))).toBeLessThan(1_000);
  const [a, b] = [await at(`@c${cycles - 500}`), await at(`@c${cycles - 499}`)];
  await explainPositions(projector, a, b);
  expect(await rowsOf(() => explainPositions(projector, a, b))).toBeLessThan(1_000);
});
