import type { FlatTree } from '@stemma/context-tree';
import { readFlatTree, readPartialTree } from '@stemma/history-store';
import type { RowReader } from '@stemma/row-store';
import { footprintOf, type Selector } from '@stemma/selectors';
import { LRUCache } from 'lru-cache';
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
