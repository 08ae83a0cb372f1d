import { compareBytes } from '@stemma/canonical';
import { listSnapshots, type Position, type SnapshotRow } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import type { ComparedCycle, Comparison, CycleCounts } from './types.ts';

const MAX_CYCLES = 500;

/**
 * The cycles after the merge base, one entry for both sides. The cycle of the merge base itself is equal and skipped.
 */
export const compareCycles = (
  rows: RowReader,
  mergeBase: Position,
  a: Position,
  b: Position,
): Pick<Comparison, 'cycles' | 'moreCycles'> => {
  const [byA, byB] = [snapshotsAfter(rows, mergeBase, a), snapshotsAfter(rows, mergeBase, b)];
  const numbers = [...new Set([...byA.keys(), ...byB.keys()])].toSorted((x, y) => x - y);
  const cycles = numbers.slice(0, MAX_CYCLES).map((cycle): ComparedCycle => {
    const [one, other] = [byA.get(cycle), byB.get(cycle)];
    const same =
      one !== undefined && other !== undefined && compareBytes(one.threadHash, other.threadHash) === 0;
    return { cycle, a: countsOf(one), b: countsOf(other), same };
  });
  return { cycles, moreCycles: numbers.length - cycles.length };
};

const snapshotsAfter = (rows: RowReader, mergeBase: Position, { history, branchId, seq }: Position) => {
  const found = new Map<number, SnapshotRow>();
  for (const row of listSnapshots(rows, history, branchId, seq, {
    from: mergeBase.cycle ?? 0,
    first: 'oldest',
  }))
    if (row.seq > mergeBase.seq) found.set(row.cycle, row);
  return found;
};

const countsOf = (row: SnapshotRow | undefined): CycleCounts | null =>
  row === undefined ? null : { seq: row.seq, nodes: row.nodes, blocks: row.blocks, turns: row.turns };
