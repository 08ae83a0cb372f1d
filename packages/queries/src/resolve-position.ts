import { fail } from '@stemma/errors';
import { findSnapshot, namedPosition, nearestMark, readHead } from '@stemma/history-store';
import { findAct } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/** How a position is named (context-tree §5): `@t-1` has the value -1, `working` is the newest frame of the lineage. */
export type PositionMarker =
  | { readonly kind: 'working' }
  | { readonly kind: 't'; readonly value: number }
  | { readonly kind: 'c'; readonly cycle: number }
  | { readonly kind: 's'; readonly seq: number }
  | { readonly kind: 'name'; readonly name: string };

/** A position, with its cycle if it is a snapshot. */
export type FoundPosition = { readonly strand: number; readonly seq: number; readonly cycle: number | null };

/**
 * The position that a marker means when `strand` is asked. Snapshots are looked for on the chain of the lineage, through
 * its fork point into its ancestors; `@sN` is the position of the lineage that wrote frame N, `@name` the one named.
 *
 * @throws E_SNAPSHOT_NOT_FOUND, E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const resolvePosition = (
  rows: RowReader,
  history: string,
  strand: number,
  marker: PositionMarker,
): FoundPosition => {
  const head = readHead(rows, history, strand);
  switch (marker.kind) {
    case 'working':
      return { strand, seq: head, cycle: null };
    case 't': {
      const { cycle } = nearestMark(rows, history, strand, head).mark;
      return snapshotAt(rows, history, strand, head, cycle - Math.abs(marker.value), `@t${marker.value}`);
    }
    case 'c':
      return snapshotAt(rows, history, strand, head, marker.cycle, `@c${marker.cycle}`);
    case 's': {
      const act = findAct(rows, history, marker.seq);
      if (act.observed)
        throw fail('E_SNAPSHOT_NOT_FOUND', `frame ${marker.seq} holds observations: it is no position`, {
          history,
          seq: marker.seq,
        });
      return withCycle(rows, history, act.strand, act.seq);
    }
    case 'name': {
      const named = namedPosition(rows, history, marker.name);
      if (named === undefined)
        throw fail('E_SNAPSHOT_NOT_FOUND', `no position of ${history} has the name ${marker.name}`, {
          history,
          name: marker.name,
        });
      return withCycle(rows, history, named.strand, named.seq);
    }
  }
};

/** Cycles count without gaps along a chain, so `@t-n` is the snapshot of the newest cycle less n. */
const snapshotAt = (
  rows: RowReader,
  history: string,
  strand: number,
  head: number,
  cycle: number,
  asked: string,
): FoundPosition => {
  const found = cycle < 0 ? undefined : findSnapshot(rows, history, strand, head, cycle);
  if (found === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `the lineage ${strand} of ${history} has no snapshot ${asked}`, {
      history,
      lineage: strand,
      asked,
    });
  return { strand: found.strand, seq: found.seq, cycle };
};

const withCycle = (rows: RowReader, history: string, strand: number, seq: number): FoundPosition => {
  const { cycle } = nearestMark(rows, history, strand, seq).mark;
  const snapshot = findSnapshot(rows, history, strand, seq, cycle);
  return { strand, seq, cycle: snapshot?.seq === seq ? cycle : null };
};
