import type { TreeParts } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import type { RowReader, Table } from '@stemma/row-store';
import { anyOperations, HISTORY, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  findSnapshotOn,
  listOwnSnapshots,
  listSnapshots,
  positionOfFrame,
  readAncestorPath,
  readBranchState,
  readPosition,
  readPositionMeta,
  readTipSeq,
  sealedTurn,
} from '../src/index.ts';
import { BRANCHES, HEADS, POSITION_META, SNAPSHOTS, TURNS, VERSIONS } from '../src/tables.ts';
import { rowsOf, rowsWithoutOne } from './rows-without.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(4, 30));
const REMOVED: readonly Table[] = [VERSIONS, TURNS, SNAPSHOTS, POSITION_META, HEADS, BRANCHES];

/** A state or position, whose nodes stand in no order, with its nodes by id. */
const byId = <P extends TreeParts>(parts: P) => ({
  ...parts,
  nodes: new Map(Array.from(parts.nodes, (node) => [node.headers.id, node])),
});

/** The snapshot of each cycle on the way to the tip, and the turn that it sealed. */
const snapshotsByCycle = (rows: RowReader, branchId: number): unknown => {
  const seq = readTipSeq(rows, HISTORY, branchId);
  const { cycle } = readPositionMeta(rows, HISTORY, branchId, seq).meta;
  const scope = { history: HISTORY, ancestorPath: readAncestorPath(rows, HISTORY, branchId, seq), cycle };
  return Array.from({ length: cycle + 2 }, (_, each) => {
    const found = findSnapshotOn(rows, scope, each);
    return found && [found, sealedTurn(rows, HISTORY, found)];
  });
};

/** What `read` gives, or the code of its error. */
const answerOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    if (isStemmaError(error)) return error.code;
    throw error;
  }
};

it(
  'when any single row of a branch is missing, a reader gets the branch as it was written or an error',
  { tags: ['decision-0051'] },
  () => {
    fc.assert(
      fc.property(anyOperations(8, 30), (actions) => {
        const { rows: recorded, history } = rowsOf(actions);
        const branchIds = [...history.branches.keys()];
        recorded.now((view) => {
          const questions = branchIds.flatMap((branchId) => [
            (rows: RowReader) => byId(readBranchState(rows, HISTORY, branchId, null)),
            (rows: RowReader) => {
              const seq = readTipSeq(rows, HISTORY, branchId);
              return [
                positionOfFrame(rows, HISTORY, branchId, seq),
                byId(readPosition(rows, HISTORY, branchId, seq)),
              ];
            },
            (rows: RowReader) => listSnapshots(rows, HISTORY, branchId, readTipSeq(rows, HISTORY, branchId)),
            (rows: RowReader) => listOwnSnapshots(rows, HISTORY, branchId),
            (rows: RowReader) => snapshotsByCycle(rows, branchId),
          ]);
          const answers = questions.map((ask) => ask(view));
          for (const { table, missing, fewer } of rowsWithoutOne(view, REMOVED))
            questions.forEach((ask, i) => {
              const answer = answerOf(() => ask(fewer));
              if (typeof answer === 'string')
                expect(answer).toMatch(table === BRANCHES ? /^E_/ : /^E_ROWS_DAMAGED$/);
              else expect(answer, missing).toEqual(answers[i]);
            });
        });
      }),
      { numRuns: RUNS },
    );
  },
);
