import { openHistory, type HistoryState } from '@stemma/history';

/** The trees of the branches that were folded last, bounded by an estimate of their bytes. */
export type BranchCache = {
  /** The state of a history whose next frame is `next`; empty if it was evicted. */
  history(history: string, next: number): HistoryState;
  /** Must be called after a frame was applied to a branch: marks it as used last, and may evict others. */
  markUsed(state: HistoryState, branchId: number): void;
  forget(history: string): void;
  clear(): void;
};

/** The bytes of a node with its records and indexes, measured roughly. */
const BYTES_PER_NODE = 900;
const BYTES_PER_BRANCH = 4_000;

export const openBranchCache = (maxBytes: number): BranchCache => {
  const histories = new Map<string, HistoryState>();
  /** Oldest first. */
  const cached = new Map<
    string,
    { readonly history: string; readonly branchId: number; readonly bytes: number }
  >();
  let bytes = 0;

  const drop = (key: string): void => {
    const entry = cached.get(key);
    if (entry === undefined) return;
    cached.delete(key);
    bytes -= entry.bytes;
  };
  const evict = (): void => {
    for (const [key, { history, branchId }] of cached) {
      if (bytes <= maxBytes || cached.size === 1) return;
      drop(key);
      const state = histories.get(history);
      state?.loadedBranches.delete(branchId);
      if (state?.loadedBranches.size === 0) histories.delete(history);
    }
  };

  return {
    history(history, next) {
      const known = histories.get(history);
      if (known?.next === next) return known;
      const state = openHistory(history, next);
      histories.set(history, state);
      return state;
    },
    markUsed(state, branchId) {
      const key = `${branchId} ${state.history}`;
      drop(key);
      const nodes = state.loadedBranches.get(branchId)?.tree.counts.nodes ?? 0;
      const cost = nodes * BYTES_PER_NODE + BYTES_PER_BRANCH;
      cached.set(key, { history: state.history, branchId, bytes: cost });
      bytes += cost;
      if (bytes > maxBytes) evict();
    },
    forget(history) {
      histories.delete(history);
      for (const [key, entry] of cached) if (entry.history === history) drop(key);
    },
    clear() {
      histories.clear();
      cached.clear();
      bytes = 0;
    },
  };
};
