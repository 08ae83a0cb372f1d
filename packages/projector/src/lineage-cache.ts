import { openHistory, type HistoryState } from '@stemma/history';

/** Working trees of the lineages that were folded last, bounded by an estimate of their bytes. */
export type LineageCache = {
  /** The state of a history that goes on with frame `next`; empty if it was let go of. */
  history(history: string, next: number): HistoryState;
  /** Call after a frame was applied to a lineage: it is the newest now, and others may go. */
  touched(state: HistoryState, strand: number): void;
  forget(history: string): void;
  clear(): void;
};

/** A node of a working tree with its records and indexes, measured roughly. */
const BYTES_PER_NODE = 900;
const BYTES_PER_LINEAGE = 4_000;

export const lineageCache = (maxBytes: number): LineageCache => {
  const histories = new Map<string, HistoryState>();
  /** Oldest first. */
  const kept = new Map<
    string,
    { readonly history: string; readonly strand: number; readonly bytes: number }
  >();
  let bytes = 0;

  const drop = (key: string): void => {
    const entry = kept.get(key);
    if (entry === undefined) return;
    kept.delete(key);
    bytes -= entry.bytes;
  };
  const letGo = (): void => {
    for (const [key, { history, strand }] of kept) {
      if (bytes <= maxBytes || kept.size === 1) return;
      drop(key);
      const state = histories.get(history);
      state?.lineages.delete(strand);
      if (state?.lineages.size === 0) histories.delete(history);
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
    touched(state, strand) {
      const key = `${strand} ${state.history}`;
      drop(key);
      const nodes = state.lineages.get(strand)?.tree.counts.nodes ?? 0;
      const cost = nodes * BYTES_PER_NODE + BYTES_PER_LINEAGE;
      kept.set(key, { history: state.history, strand, bytes: cost });
      bytes += cost;
      if (bytes > maxBytes) letGo();
    },
    forget(history) {
      histories.delete(history);
      for (const [key, entry] of kept) if (entry.history === history) drop(key);
    },
    clear() {
      histories.clear();
      kept.clear();
      bytes = 0;
    },
  };
};
