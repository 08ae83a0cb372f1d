import type { FlatTree } from '@stemma/context-tree';
import { readFlatTree, readPartialTree } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { footprintOf, type Selector } from '@stemma/selectors';
import { LRUCache } from 'lru-cache';
import type { TreePosition } from './appeared.ts';

/** Gives as much of a tree as answers a selector. */
export type LoadTree = (rows: RowReader, at: TreePosition, selector: Selector) => FlatTree;

/** So many nodes of whole trees are kept, but always the newest tree. */
const MAX_NODES = 400_000;

/**
 * Reads of a position what a selector needs. Whole trees that were used last are kept: a position never changes, and what
 * was worked out about a tree answers the next question about it.
 */
export const openTreeLoader = (): LoadTree => {
  // The newest tree is always kept: one that is too large stands for all there is room for.
  const kept = new LRUCache<string, FlatTree>({
    maxSize: MAX_NODES,
    sizeCalculation: ({ count }) => Math.min(count, MAX_NODES),
  });
  return (rows, { history, branchId, seq }, selector) => {
    const key = `${branchId}/${seq} ${history}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const wanted = footprintOf(selector);
    if (wanted !== 'whole') return readPartialTree(rows, history, branchId, seq, wanted);
    const tree = readFlatTree(rows, history, branchId, seq);
    kept.set(key, tree);
    return tree;
  };
};
