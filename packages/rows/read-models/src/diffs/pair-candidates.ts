import { withContained, type FlatTree } from '@stemma/context-tree';
import { readPartialTree } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { differingIds, type DiffCandidates, type Ends, type ReadChanges } from './diff-candidates.ts';

/** No node is wanted for its depth. */
const NO_DEPTH = { minDepth: 1, maxDepth: 0 } as const;

/**
 * As `readDiffCandidates`, and with what the nodes contain: restricted to `ids`, whatever nodes and their ancestors decide is that of
 * the whole trees. Each location that one of them is at is read whole. Undefined if there are too many, or if the root or a
 * region differs, which contain what every location has.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const readPairCandidates = (
  rows: RowReader,
  history: string,
  { a, b }: Ends,
  maxIds: number,
  changes?: ReadChanges,
): DiffCandidates | undefined => {
  const found = differingIds(rows, history, { a, b }, maxIds, changes);
  if (found === undefined) return undefined;
  const [older, newer] = [a, b].map(({ branchId, seq }) =>
    readPartialTree(rows, history, branchId, seq, { ...NO_DEPTH, ids: [...found] }),
  ) as [FlatTree, FlatTree];
  const ids = withContained(found, [older, newer]);
  return ids && { ids, older, newer };
};
