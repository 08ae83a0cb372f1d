import type { RowReader } from '@stemma/row-store';
import type { AncestryView } from './ancestry-view.ts';
import type { RecordedNodeChange } from './records.ts';
import { readNodeChanges, type TimelineEntry } from './timeline.ts';

/** When a node was in the tree, as seen from a position. */
export type Presence = {
  /** The event that inserted it, and the one that removed it; null if it is still there. */
  readonly added: Pick<TimelineEntry, 'branchId' | 'seq' | 'index' | 'cycle' | 'cause'>;
  readonly removed: Pick<TimelineEntry, 'branchId' | 'seq' | 'index' | 'cycle' | 'cause'> | null;
  /** The first and the last snapshot of the ancestor path that it is in: all between too; null: it is in none. */
  readonly snapshots: { readonly first: number; readonly last: number } | null;
};

/**
 * When a node was in the tree and in which snapshots, on the ancestor path of a position: one range of its rows. An id is never
 * used twice, so it was inserted and removed at most once. Undefined if it never was on this ancestor path.
 */
export const presenceOf = (rows: RowReader, ancestry: AncestryView, id: string): Presence | undefined => {
  const nodeChanges = readNodeChanges(rows, ancestry.history, id).filter(({ branchId, seq }) =>
    ancestry.includes(branchId, seq),
  );
  const added = nodeChanges.find(({ explains }) => explains === 'added');
  if (added === undefined) return undefined;
  const removed = nodeChanges.find(({ explains }) => explains === 'removed');
  // It is in the snapshot of the cycle of its insertion, and not in that of the cycle of its removal.
  const last = removed === undefined ? ancestry.cycle : removed.cycle - 1;
  return {
    added: eventOf(added),
    removed: removed === undefined ? null : eventOf(removed),
    snapshots: added.cycle <= last ? { first: added.cycle, last } : null,
  };
};

const eventOf = ({ branchId, seq, index, cycle, cause }: RecordedNodeChange): Presence['added'] => ({
  branchId,
  seq,
  index,
  cycle,
  cause,
});
