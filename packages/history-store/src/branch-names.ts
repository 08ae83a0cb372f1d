import { lineageId } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { findSnapshot } from './list-snapshots.ts';
import { lineageNamed } from './look-up.ts';
import { nearestMark } from './mark.ts';
import { positionLabelled, type Line, type Position } from './position.ts';

/** The line of a strand, named as if no rollback had moved `main`. */
export const lineOf = (history: string, strand: number): Line => ({
  history,
  strand,
  lineage: lineageId(history, strand),
});

/**
 * What names a lineage now: the history's id for the one that has the name `main`, else `<history>:<strand>`. After a
 * rollback the history's id means the lineage that went on, and `<history>:0` the first.
 */
export const lineageName = (rows: RowReader, history: string, strand: number): string => {
  return strand === mainStrand(rows, history) ? lineageId(history, 0) : `${history}:${strand}`;
};

/** The lineage that has the name `main` now. */
export const mainStrand = (rows: RowReader, history: string): number =>
  lineageNamed(rows, history, 'main') ?? 0;

/** The position of a lineage after a frame. */
export const positionIn = (rows: RowReader, history: string, strand: number, seq: number): Position => {
  const { cycle } = nearestMark(rows, history, strand, seq).mark;
  const committed = findSnapshot(rows, history, strand, seq, cycle)?.seq === seq;
  return positionLabelled({ history, strand, seq, cycle, committed, main: mainStrand(rows, history) });
};
