import type { PayloadSource } from '@stemma/context-tree';
import type { Position, TreeAt } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { collect } from '@stemma/suspend';

/** Gives trees at positions, the last few from memory: one who looks through a history asks for the same ones again. */
export type Trees = (position: Position) => Promise<TreeAt>;

const MOST_TREES = 32;
const MOST_NODES = 200_000;

/** Trees of a home. A position never changes, so a view that is kept is never wrong. Bounded by their nodes. */
export const openTrees = (home: Home): Trees => {
  const kept = new Map<string, { readonly tree: Promise<TreeAt>; nodes: number }>();

  const shrink = (): void => {
    let nodes = 0;
    for (const one of kept.values()) nodes += one.nodes;
    for (const [key, one] of kept) {
      if (kept.size <= 2 || (kept.size <= MOST_TREES && nodes <= MOST_NODES)) return;
      kept.delete(key);
      nodes -= one.nodes;
    }
  };

  return async (position) => {
    const key = `${position.history}:${position.strand}:${position.seq}`;
    const found = kept.get(key);
    if (found !== undefined) {
      kept.delete(key);
      kept.set(key, found);
      return found.tree;
    }
    const entry = { tree: home.tree(position), nodes: 0 };
    kept.set(key, entry);
    try {
      const at = await entry.tree;
      entry.nodes = at.tree.count;
      shrink();
      return at;
    } catch (error) {
      kept.delete(key);
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
