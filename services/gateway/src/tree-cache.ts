import type { PayloadSource } from '@stemma/context-tree';
import type { Position, TreeAt } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { collect } from '@stemma/suspend';

/** Gives trees at positions, the last few from memory: one who looks through a history asks for the same ones again. */
export type TreeCache = (position: Position) => Promise<TreeAt>;

const MAX_TREES = 32;
const MAX_NODES = 200_000;

/** Trees of a home. A position never changes, so a view that is kept is never wrong. Bounded by their nodes. */
export const openTreeCache = (home: Home): TreeCache => {
  const cached = new Map<string, { readonly tree: Promise<TreeAt>; nodes: number }>();

  const evict = (): void => {
    let nodes = 0;
    for (const one of cached.values()) nodes += one.nodes;
    for (const [key, one] of cached) {
      if (cached.size <= 2 || (cached.size <= MAX_TREES && nodes <= MAX_NODES)) return;
      cached.delete(key);
      nodes -= one.nodes;
    }
  };

  return async (position) => {
    const key = `${position.history}:${position.branchId}:${position.seq}`;
    const found = cached.get(key);
    if (found !== undefined) {
      cached.delete(key);
      cached.set(key, found);
      return found.tree;
    }
    const entry = { tree: home.tree(position), nodes: 0 };
    cached.set(key, entry);
    try {
      const at = await entry.tree;
      entry.nodes = at.tree.count;
      evict();
      return at;
    } catch (error) {
      cached.delete(key);
      throw error;
    }
  };
};

/** What `fn`, which must be pure, makes of contents of a history; all that it needs are fetched at once. */
export const withContents = <T>(
  home: Home,
  history: string,
  fn: (payloads: PayloadSource) => T,
): Promise<T> =>
  home.withPayloads(history, (source) => collect((attempt) => fn((ref) => attempt(source, ref, {}))));
