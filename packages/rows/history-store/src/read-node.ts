import type { RowReader } from '@stemma/row-store';
import { readAncestorPath } from './ancestor-path.ts';
import { openNodeReader, type FoundNode } from './node-reader.ts';
import { readPositionMeta } from './position-meta.ts';

/**
 * One node at a position, read without the rest; undefined if the position does not have it.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readNode = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
  id: string,
): FoundNode | undefined => {
  const ancestorPath = readAncestorPath(rows, history, branchId, seq);
  const scope = {
    history,
    ancestorPath,
    // Read for a node that expires: most do not.
    get cycle() {
      return readPositionMeta(rows, history, branchId, seq).meta.cycle;
    },
  };
  return openNodeReader(rows, scope)(id);
};
