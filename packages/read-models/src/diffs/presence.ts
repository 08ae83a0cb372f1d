import type { RowReader } from '@stemma/row-store';
import { touchesOfNode, type Moment } from './timeline.ts';
import type { RecordedTouch } from './records.ts';
import type { Vista } from './vista.ts';

/** When a node was there, as seen from a position. */
export type Presence = {
  /** The event that brought it, and the one that took it; null: it is there. */
  readonly came: Pick<Moment, 'strand' | 'seq' | 'index' | 'cycle' | 'cause'>;
  readonly left: Pick<Moment, 'strand' | 'seq' | 'index' | 'cycle' | 'cause'> | null;
  /** The first and the last snapshot of the chain that it is in: all between too; null: it is in none. */
  readonly snapshots: { readonly first: number; readonly last: number } | null;
};

/**
 * When a node was in the tree and in which snapshots, on the chain of a position: one range of its rows. An id is never
 * used twice, so it came once and went once at the most. Undefined: it never was on this chain.
 */
export const presenceOf = (rows: RowReader, vista: Vista, id: string): Presence | undefined => {
  const touches = touchesOfNode(rows, vista.history, id).filter(({ strand, seq }) => vista.sees(strand, seq));
  const came = touches.find(({ explains }) => explains === 'added');
  if (came === undefined) return undefined;
  const left = touches.find(({ explains }) => explains === 'removed');
  // It is in the snapshot of the cycle that it came in, and not in that of the cycle in which it went.
  const last = left === undefined ? vista.cycle : left.cycle - 1;
  return {
    came: placeOf(came),
    left: left === undefined ? null : placeOf(left),
    snapshots: came.cycle <= last ? { first: came.cycle, last } : null,
  };
};

const placeOf = ({ strand, seq, index, cycle, cause }: RecordedTouch): Presence['came'] => ({
  strand,
  seq,
  index,
  cycle,
  cause,
});
