import type { HistoryState } from '@stemma/history';
import type { Fold } from '@stemma/history-store';
import { keyText, type Key, type Table } from '@stemma/row-store';

/**
 * The keys of rows that the frames of a history have written, from its first frame on: of rows that were written since
 * and taken back, or removed, too. So what is not among them has no row, and nobody has to look for it.
 */
export type KnownKeys = {
  readonly folds: readonly Fold[];
  /** By table. */
  readonly keys: Map<Table, Set<string>>;
  size: number;
};

/** A history with more is looked up like one that was not folded from its first frame on: some 400 KB. */
const MOST_KEYS = 4_096;

const known = new WeakMap<HistoryState, KnownKeys>();

/**
 * The known keys of a history before its frame `seq`, which all these read models fold. They live as long as its state:
 * that goes when a frame is left out, folded by somebody else, or not committed.
 */
export const knownKeys = (
  state: HistoryState,
  seq: number,
  folds: readonly Fold[],
): KnownKeys | undefined => {
  const before = known.get(state);
  if (before !== undefined && before.size <= MOST_KEYS && sameFolds(before.folds, folds)) return before;
  known.delete(state);
  if (seq > 0) return undefined;
  const none: KnownKeys = { folds, keys: new Map(), size: 0 };
  known.set(state, none);
  return none;
};

/** A read model that starts to be folded with every frame has rows that others wrote. */
const sameFolds = (a: readonly Fold[], b: readonly Fold[]): boolean =>
  a.length === b.length && a.every((fold, i) => fold === b[i]);

/** Adds a key; false if it was known. */
export const addKnownKey = (to: KnownKeys, table: Table, key: Key): boolean => {
  let ofTable = to.keys.get(table);
  if (ofTable === undefined) to.keys.set(table, (ofTable = new Set()));
  const before = ofTable.size;
  ofTable.add(keyText(table, key));
  if (ofTable.size === before) return false;
  to.size++;
  return true;
};
