import { listSnapshots, readTipSeq } from '@stemma/history-store';
import { anyOperations, HISTORY, play, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { resolvePosition } from '../src/resolve-position.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(20, 60));

it(
  'every way to name a snapshot of an ancestor path gives its position; what names none is refused',
  {
    tags: [
      'context-tree§5:positions',
      'context-tree§5:missing-end',
      'context-tree§5:fork',
      'context-tree§5:rollback',
      'PACT-05§2.3',
      'PACT-05§6.3',
    ],
  },
  () => {
    fc.assert(
      fc.property(anyOperations(1, 60), (operations) => {
        const { history, rows } = play(operations);
        rows.now((view) => {
          for (const branchId of history.branches.keys()) {
            const tip = readTipSeq(view, HISTORY, branchId);
            const snapshots = listSnapshots(view, HISTORY, branchId, tip);
            for (const [back, { cycle, branchId: of, seq }] of snapshots.entries()) {
              const position = { branchId: of, seq, cycle };
              expect(resolvePosition(view, HISTORY, branchId, { kind: 'c', cycle })).toEqual(position);
              expect(resolvePosition(view, HISTORY, branchId, { kind: 't', value: -back })).toEqual(position);
              expect(resolvePosition(view, HISTORY, branchId, { kind: 's', seq })).toEqual(position);
            }
            for (const marker of [
              { kind: 't', value: -snapshots.length },
              { kind: 'c', cycle: 10_000 },
              { kind: 's', seq: 10_000 },
              { kind: 'name', name: '-' },
            ] as const)
              expect(() => resolvePosition(view, HISTORY, branchId, marker)).toThrow(
                expect.objectContaining({ code: 'E_SNAPSHOT_NOT_FOUND' }) as Error,
              );
          }
        });
      }),
      { numRuns: RUNS / 2 },
    );
  },
);
