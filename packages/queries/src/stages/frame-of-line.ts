import type { Line } from '@stemma/history-store';
import { findLineage } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/**
 * Whether a frame was written to a lineage, or to one that was what the lineage is now until a rollback left it: whoever
 * follows a history by its id hears of all that it went through, but of nothing that was written to a left lineage since.
 */
export const isFrameOfLine = (
  rows: RowReader,
  { history, strand }: Pick<Line, 'history' | 'strand'>,
  frame: { readonly strand: number; readonly seq: number },
): boolean => {
  let at = frame.strand;
  while (at !== strand) {
    // The strand of a lineage is its first frame.
    const next = findLineage(rows, history, at)?.leftBy ?? null;
    if (next === null || frame.seq > next) return false;
    at = next;
  }
  return true;
};
