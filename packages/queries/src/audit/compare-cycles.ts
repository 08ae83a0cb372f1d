import { compareBytes } from '@stemma/canonical';
import { listSnapshots, type Position, type SnapshotRow } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import type { ComparedCycle, Comparison, CycleCounts } from './types.ts';

const MOST_CYCLES = 500;

/** The cycles behind the stem as each side has them. A cycle of the stem itself is the same on both and left out. */
export const compareCycles = (
  rows: RowReader,
  stem: Position,
  a: Position,
  b: Position,
): Pick<Comparison, 'cycles' | 'moreCycles'> => {
  const [byA, byB] = [behind(rows, stem, a), behind(rows, stem, b)];
  const numbers = [...new Set([...byA.keys(), ...byB.keys()])].toSorted((x, y) => x - y);
  const cycles = numbers.slice(0, MOST_CYCLES).map((cycle): ComparedCycle => {
    const [one, other] = [byA.get(cycle), byB.get(cycle)];
    const same =
      one !== undefined && other !== undefined && compareBytes(one.threadHash, other.threadHash) === 0;
    return { cycle, a: countsOf(one), b: countsOf(other), same };
  });
  return { cycles, moreCycles: numbers.length - cycles.length };
};

const behind = (rows: RowReader, stem: Position, { history, strand, seq }: Position) => {
  const found = new Map<number, SnapshotRow>();
  for (const row of listSnapshots(rows, history, strand, seq, { from: stem.cycle ?? 0, first: 'oldest' }))
    if (row.seq > stem.seq) found.set(row.cycle, row);
  return found;
};

const countsOf = (row: SnapshotRow | undefined): CycleCounts | null =>
  row === undefined ? null : { seq: row.seq, nodes: row.nodes, blocks: row.blocks, turns: row.turns };
