import type { FlatTree } from '@stemma/context-tree';
import { isFromFirstFrame, listSnapshots } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';

/** The position that a tree was read at. */
export type TreePosition = { readonly history: string; readonly branchId: number; readonly seq: number };

/**
 * The cycle of the first snapshot on the ancestor path that has a node: what `age` counts from (context-tree §6).
 * That is the snapshot of the cycle that inserted it, except for imported nodes, which are first in the import.
 */
export const appearedAt = (
  rows: RowReader,
  { history, branchId, seq }: TreePosition,
  tree: FlatTree,
): ((index: number) => number) => {
  let first: number | undefined;
  return (index) => {
    first ??= listSnapshots(rows, history, branchId, seq, { first: 'oldest', limit: 1 })[0]?.cycle ?? 0;
    const { id, cycle } = tree.headers[index] as FlatTree['headers'][number];
    return cycle <= first || isFromFirstFrame(rows, history, id) ? first : cycle;
  };
};
