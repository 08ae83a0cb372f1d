import { diffTrees, flattenRecords } from '@stemma/context-tree';
import { payloadIn } from '@stemma/history';
import { listSnapshots, readTipSeq, type TreeAt } from '@stemma/history-store';
import { anyOperations, countWork, HISTORY, play, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { treeAt } from '../src/read.ts';
import { diffNeighbours } from '../src/selection/diff-neighbours.ts';
import { longHistory } from './long-history.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(40, 100));

test(
  'two trees are compared by what is between them as they are compared whole, of neighbours and of others',
  { tags: ['context-tree§7:shape', 'context-tree§7:order'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyOperations(10, 60), async (actions) => {
        const { history, rows, projector } = play(actions);
        for (const branchId of history.branches.keys()) {
          const tip = rows.now((view) => readTipSeq(view, HISTORY, branchId));
          const snapshots = rows.now((view) => listSnapshots(view, HISTORY, branchId, tip));
          const trees = [{ branchId, seq: tip }, ...snapshots].map((at): TreeAt => {
            const position = { ...at, history: HISTORY, branch: '', cycle: null, committed: true, label: '' };
            return { position, tree: flattenRecords(history.copyAt(at.branchId, at.seq)), thread: 'full' };
          });
          for (const [i, newer] of trees.entries())
            for (const older of trees.slice(i + 1, i + 4))
              expect(await diffNeighbours(projector, older, newer)).toEqual(
                diffTrees(older.tree, newer.tree, ({ seq, index }) =>
                  payloadIn(history.frames[seq]!.body.events[index]!),
                ),
              );
        }
      }),
      { numRuns: RUNS },
    );
  },
);

test('comparing two neighbours takes as many steps in a long history as in a short one', async () => {
  const { projector } = await longHistory(3_000);
  const comparing: (() => Promise<unknown>)[] = [];
  for (const cycle of [200, 2_600]) {
    const [older, newer] = await Promise.all(
      [cycle, cycle + 1].map((seq) =>
        treeAt(projector, {
          ...{ history: HISTORY, branchId: 0, branch: HISTORY, seq },
          ...{ cycle: seq, committed: true, label: '' },
        }),
      ),
    );
    comparing.push(() => diffNeighbours(projector, older!, newer!));
  }
  const [short, long] = await countWork(comparing);
  expect(long! / short!).toBeLessThan(1.3);
});
