import { flattenRecords, threadIndexes } from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import { anyOperations, HISTORY, naiveHistory, perform, rowsUnderTest, sized, START } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readThreadTimeline, readTipSeq, type ThreadSlice } from '../src/index.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(20, 60));

const churned = (i: number): Step[] => [
  { op: 'insert', parent: '^sys', node: { id: `sys-${i}`, nodeType: 'cb', content: `${i}` } },
  ...(i > 2 ? [{ op: 'remove', id: `sys-${i - 3}` } as const] : []),
  { op: 'commit' },
];

it(
  'the thread timeline of an ancestor path gives the thread of every snapshot, and every slice that it reports as unchanged is unchanged',
  { tags: ['context-tree§4:provider-thread', 'context-tree§4:thread-pre', 'snapshots:read'] },
  () => {
    fc.assert(
      fc.property(
        anyOperations(1, 60),
        fc.boolean(),
        fc.integer({ min: -20, max: 4 }),
        (actions, pre, churn) => {
          const under = rowsUnderTest();
          const history = naiveHistory(under.fold);
          history.run(0, [pre ? ({ ...START, thread: 'pre' } as typeof START) : START]);
          // Enough that what is under ^sys is written anew, a few times.
          for (let i = 0; i < churn * 40; i++) history.run(0, churned(i));
          for (const action of actions) perform(history, action);
          under.rows.now((view) => {
            for (const branchId of history.branches.keys()) {
              let slices: readonly ThreadSlice[] = [];
              for (const step of readThreadTimeline(
                view,
                HISTORY,
                branchId,
                readTipSeq(view, HISTORY, branchId),
              )) {
                expect(step.before).toEqual(slices.slice(step.firstChanged));
                slices = [...slices.slice(0, step.firstChanged), ...step.after];
                const copy = history.copyAt(step.snapshot.branchId, step.snapshot.seq);
                const tree = flattenRecords(copy);
                expect(slices.flat()).toEqual(
                  threadIndexes(tree, copy.thread).map((i) => ({
                    headers: tree.headers[i],
                    payload: tree.payloads[i],
                    inSys: i < tree.seq,
                  })),
                );
              }
            }
          });
        },
      ),
      { numRuns: RUNS },
    );
  },
);
