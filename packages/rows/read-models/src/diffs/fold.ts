import { cycleOfFrame, nodeChangesOf, type AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import { insertionCells, nodeChangeCells } from './records.ts';
import { CHANGED_NODES, DUE, TIMELINE } from './tables.ts';

/** More nodes that one frame inserted never stand in its row, which is read whole. */
const MAX_INSERTED = 64;

/**
 * Writes the changes of nodes by one frame: a row for the frame, which has its insertions too unless these are many; a row for
 * each other change, and another for each node that expires with a cycle.
 */
export const foldDiffs = (frame: AppliedFrame, rows: Rows): void => {
  const { history, branchId, seq } = frame;
  const nodeChanges = nodeChangesOf(frame);
  if (nodeChanges.length === 0) return;
  const cycle = cycleOfFrame(frame);
  const inserted = nodeChanges.filter(({ explains }) => explains === 'added');
  const together = inserted.length <= MAX_INSERTED;
  for (const nodeChange of nodeChanges) {
    const { id, index, explains, ttl, expires } = nodeChange;
    if (!together || explains !== 'added')
      rows.put(TIMELINE, [history, id, seq, index], nodeChangeCells(nodeChange, branchId, cycle));
    if (typeof ttl === 'number' && typeof expires === 'number' && ttl > 0)
      rows.put(DUE, [history, branchId, expires, seq, id], [ttl]);
  }
  const nodes = new Set<string>();
  for (const { id } of inserted) nodes.add(id);
  for (const { id } of nodeChanges) nodes.add(id);
  const cells = together && inserted.length > 0 ? inserted.map((each) => insertionCells(each, cycle)) : null;
  rows.put(CHANGED_NODES, [history, branchId, seq], [[...nodes], cycle, cells]);
};
