import { branchAddressOf, positionOfFrame, readAncestorPath, type Position } from '@stemma/history-store';
import { findBranch, listBranches, listNamedPositions, listNotes, type BranchRow } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import { callersIn } from '../calls/callers.ts';
import { cycleAt } from './saved.ts';
import type { BranchNode } from './types.ts';

/** A function that completes a branch's row to its node in the tree; it reads what all branches share once. */
const openBranchDescriber = (rows: RowReader, history: string): ((row: BranchRow) => BranchNode) => {
  const positionOf = (branchId: number, at: number): Omit<BranchNode['saved'][number], 'name'> => {
    const { seq, cycle, label } = positionOfFrame(rows, history, branchId, at);
    return { seq, cycle, label };
  };
  const saved = new Map<number, BranchNode['saved'][number][]>();
  for (const { name, branchId, position } of listNamedPositions(rows, history)) {
    const own = saved.get(branchId);
    const one = { name, ...positionOf(branchId, position) };
    if (own === undefined) saved.set(branchId, [one]);
    else own.push(one);
  }
  const descriptions = new Map<number, string>();
  for (const { branchId, seq, position, note } of listNotes(rows, history))
    if (branchId === position && seq === branchId) descriptions.set(branchId, note);
  const callers = callersIn(rows, history);
  return (row) => {
    const { calledBy, mayContinue } = callers(row.branchId);
    return {
      branch: branchAddressOf(rows, history, row.branchId),
      branchId: row.branchId,
      name: row.name,
      how: row.how,
      parent:
        row.parent === null
          ? null
          : { branchId: row.parent.branchId, ...positionOf(row.parent.branchId, row.parent.seq) },
      abandoned_by: row.abandonedBy,
      startedAt: millisecondsOf(row.startedAt),
      updatedAt: millisecondsOf(row.newestAt),
      seq: row.seq,
      cycle: cycleAt(rows, history, row.branchId, row.seq),
      frames: row.frames,
      called_by: calledBy,
      may_continue: mayContinue,
      description: row.branchId === 0 ? '' : (descriptions.get(row.branchId) ?? ''),
      saved: [...(saved.get(row.branchId) ?? [])].sort((a, b) => a.seq - b.seq),
    };
  };
};

/** The branches of a history in the order they began. */
export const listBranchNodes = (rows: RowReader, history: string): readonly BranchNode[] =>
  listBranches(rows, history).map(openBranchDescriber(rows, history));

/** The branches on the ancestor path of a position, from the root. */
export const ancestorsOf = (rows: RowReader, { history, branchId, seq }: Position): readonly BranchNode[] => {
  const describe = openBranchDescriber(rows, history);
  return readAncestorPath(rows, history, branchId, seq)
    .map((segment) => findBranch(rows, history, segment.branchId))
    .filter((row) => row !== undefined)
    .map(describe);
};
