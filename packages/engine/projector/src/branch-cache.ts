import { bytesOfBranch, openHistory, type HistoryState } from '@stemma/history';
import { openEvictionOrder } from '@stemma/log';

/** The trees of the branches that were folded last, bounded by an estimate of their bytes. */
export type BranchCache = {
  /** The state of a history whose next frame is `next`; empty if it was evicted. */
  history(history: string, next: number): HistoryState;
  /** True if a branch of the history is in memory. */
  has(history: string): boolean;
  /** Must be called after a frame was applied to a branch: marks it as used last, and may evict others. */
  markUsed(state: HistoryState, branchId: number): void;
  forget(history: string): void;
  /** A tree of so many nodes was read from rows, because it was not here. */
  noteRead(nodes: number): void;
  /** The nodes of all trees that were read. */
  readonly nodesRead: number;
  /**
   * A period has passed: branches that were not used for so many are evicted, though there may be room. Most of them are
   * finished, and whoever collects garbage goes through all that is kept.
   */
  evictUnused(periods: number): void;
  clear(): void;
};

type CachedBranch = {
  readonly history: string;
  readonly branchId: number;
  /** The period in which it was used last. */
  readonly used: number;
};

/**
 * Branches that were not folded for so many milliseconds leave, while all together take more than so many bytes: conversations that
 * are finished would fill whatever room there is.
 */
const IDLE = 5_000;
const IDLE_BYTES = 16 * 1024 * 1024;

/** @param maxBytes 1 or more. @param now a steady clock in milliseconds; what is in memory decides no row */
export const openBranchCache = (
  maxBytes: number,
  now: () => number = () => performance.now(),
): BranchCache => {
  const histories = new Map<string, HistoryState>();
  /** In the order of their last use. */
  const cached = new Map<string, CachedBranch>();
  const order = openEvictionOrder(maxBytes);
  const unload = (key: string): void => {
    const { history, branchId } = cached.get(key) as CachedBranch;
    cached.delete(key);
    const state = histories.get(history);
    state?.loadedBranches.delete(branchId);
    if (state?.loadedBranches.size === 0) histories.delete(history);
  };
  let period = 0;
  let nodesRead = 0;

  return {
    history(history, next) {
      const known = histories.get(history);
      if (known?.next === next) return known;
      const state = openHistory(history, next);
      histories.set(history, state);
      return state;
    },
    has: (history) => histories.has(history),
    markUsed(state, branchId) {
      // The newest branch is always kept: one that is too large stands for all there is room for.
      const bytes = Math.min(bytesOfBranch(state.loadedBranches.get(branchId)), maxBytes);
      const key = `${branchId} ${state.history}`;
      cached.delete(key);
      cached.set(key, { history: state.history, branchId, used: period });
      const at = now();
      for (const other of order.use(key, bytes, at)) unload(other);
      for (const other of order.leaveUnused(at - IDLE, Math.min(IDLE_BYTES, maxBytes))) unload(other);
    },
    noteRead(nodes) {
      nodesRead += nodes;
    },
    get nodesRead() {
      return nodesRead;
    },
    forget(history) {
      histories.delete(history);
      for (const [key, branch] of [...cached])
        if (branch.history === history) {
          cached.delete(key);
          order.forget(key);
        }
    },
    evictUnused(periods) {
      period++;
      for (const [key, { used }] of [...cached]) {
        if (used > period - periods) return;
        unload(key);
        order.forget(key);
      }
    },
    clear() {
      histories.clear();
      for (const key of cached.keys()) order.forget(key);
      cached.clear();
    },
  };
};
