import type { BranchPosition } from '@stemma/events';
import type { RowReader } from '@stemma/row-store';
import { readAncestorPath } from './ancestor-path.ts';
import { readPositionMeta } from './position-meta.ts';
import { mergeRanges } from './read-partial-tree.ts';
import { readSegments } from './read-position.ts';
import { readCyclesToLoad } from './turn-sums.ts';

/**
 * The nodes of a position that end with a cycle, and so may show another `ttl` in every snapshot: of the turns, only those that
 * have such a node are read. Undefined if more than `most` turns have.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readExpiringIds = (
  rows: RowReader,
  history: string,
  { branchId, seq }: BranchPosition,
  most: number,
): readonly string[] | undefined => {
  const path = readAncestorPath(rows, history, branchId, seq);
  const { meta } = readPositionMeta(rows, history, branchId, seq);
  const cycles = readCyclesToLoad(rows, history, path, meta.oldestTurn, meta.cycle);
  if (cycles.length > most) return undefined;
  const { nodes } = readSegments(rows, history, path, meta, {
    sys: true,
    locations: mergeRanges([...cycles, meta.cycle + 1].map((cycle) => [cycle, cycle] as const)),
    turns: [],
  });
  return [...nodes].flatMap(({ headers, expires }) => (expires === null ? [] : [headers.id]));
};
