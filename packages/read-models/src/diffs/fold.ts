import { cycleOfFrame, nodeChangesOf, type AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { changedNodeIds, nodeChangeCells } from './records.ts';
import { CHANGED_NODES, DUE, TIMELINE } from './tables.ts';

/**
 * Writes the changes of nodes by one frame: a row for each and another for each that expires with a cycle, one for the
 * frame.
 */
export const foldDiffs = (frame: AppliedFrame, rows: Rows): void => {
  const { history, branchId, seq } = frame;
  const nodeChanges = nodeChangesOf(frame);
  if (nodeChanges.length === 0) return;
  const cycle = cycleOfFrame(frame);
  for (const nodeChange of nodeChanges) {
    rows.put(
      TIMELINE,
      [history, nodeChange.id, seq, nodeChange.index],
      nodeChangeCells(nodeChange, branchId, cycle),
    );
    const { id, ttl, expires } = nodeChange;
    if (typeof ttl === 'number' && typeof expires === 'number' && ttl > 0)
      rows.put(DUE, [history, branchId, expires, seq, id], [ttl]);
  }
  rows.put(CHANGED_NODES, [history, branchId, seq], [changedNodeIds(nodeChanges)]);
};
