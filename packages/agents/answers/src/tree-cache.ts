import type { PayloadSource } from '@stemma/context-tree';
import type { Position, TreeAt } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { collect } from '@stemma/suspend';
import { LRUCache } from 'lru-cache';

/** Gives trees at positions, the last few from memory: one who looks through a history asks for the same ones again. */
export type TreeCache = (position: Position) => Promise<TreeAt>;

const MAX_TREES = 32;
const MAX_NODES = 200_000;

/** Trees of a home. A position never changes, so a view that is kept is never wrong. Bounded by their nodes. */
export const openTreeCache = (home: Home): TreeCache => {
  const cached = new LRUCache<string, TreeAt, Position>({
    max: MAX_TREES,
    maxSize: MAX_NODES,
    // The newest two stay, whatever their size: to compare them is the usual question.
    sizeCalculation: ({ tree }) => Math.min(tree.count, MAX_NODES / 2),
    fetchMethod: (_key, _stale, { context }) => home.read.tree(context),
    // One that had to go while it was read is an answer all the same.
    ignoreFetchAbort: true,
  });
  return (position) =>
    cached.forceFetch(`${position.history}:${position.branchId}:${position.seq}`, { context: position });
};

/** What `fn`, which must be pure, makes of contents of a history; all that it needs are fetched at once. */
export const withContents = <T>(
  home: Home,
  history: string,
  fn: (payloads: PayloadSource) => T,
): Promise<T> =>
  home.read.withPayloads(history, (source) => collect((attempt) => fn((ref) => attempt(source, ref, {}))));
