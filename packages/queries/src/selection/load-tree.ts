import type { FlatTree } from '@stemma/context-tree';
import { readFlatTree, readPartialTree } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { footprintOf, type Selector } from '@stemma/selectors';
import type { TreePosition } from './appeared.ts';

/** Returns the part of a tree that answers a selector. */
export type LoadTree = (rows: RowReader, at: TreePosition, selector: Selector) => FlatTree;

/** The number of nodes of whole trees that are kept; the newest tree is always kept. */
const MAX_NODES = 400_000;

/**
 * A function that reads the part of a position that a selector needs. It keeps the whole trees used last: a position
 * never changes, and what was computed about a tree answers the next question about it.
 */
export const openTreeLoader = (): LoadTree => {
  /** Oldest first. */
  const kept = new Map<string, FlatTree>();
  let nodes = 0;
  const keep = (key: string, tree: FlatTree): FlatTree => {
    if (kept.delete(key)) nodes -= tree.count;
    kept.set(key, tree);
    nodes += tree.count;
    for (const [oldest, { count }] of kept) {
      if (nodes <= MAX_NODES || kept.size === 1) break;
      kept.delete(oldest);
      nodes -= count;
    }
    return tree;
  };
  return (rows, { history, branchId, seq }, selector) => {
    const key = `${branchId}/${seq} ${history}`;
    const known = kept.get(key);
    if (known !== undefined) return keep(key, known);
    const wanted = footprintOf(selector);
    return wanted === 'whole'
      ? keep(key, readFlatTree(rows, history, branchId, seq))
      : readPartialTree(rows, history, branchId, seq, wanted);
  };
};
