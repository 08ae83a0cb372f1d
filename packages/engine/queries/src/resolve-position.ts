import { fail } from '@stemma/errors';
import {
  findNamedPosition,
  findSnapshot,
  readBranch,
  readPositionMeta,
  readTipSeq,
} from '@stemma/history-store';
import { findFrameSummary } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';

/** A parsed position marker (context-tree §5): `@t-1` has the value -1, `working` is the newest frame of the branch. */
export type PositionMarker =
  | { readonly kind: 'working' }
  | { readonly kind: 't'; readonly value: number }
  | { readonly kind: 'c'; readonly cycle: number }
  | { readonly kind: 's'; readonly seq: number }
  | { readonly kind: 'name'; readonly name: string };

/** A position, with its cycle if it is a snapshot. */
export type ResolvedPosition = {
  readonly branchId: number;
  readonly seq: number;
  readonly cycle: number | null;
};

/**
 * The position that a marker means on a branch. Snapshots are searched on the ancestor path of the branch, through
 * its fork point into its ancestors; `@sN` is the position of the branch that wrote frame N, `@name` the one with
 * that name.
 *
 * @throws E_SNAPSHOT_NOT_FOUND, E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const resolvePosition = (
  rows: RowReader,
  history: string,
  branchId: number,
  marker: PositionMarker,
): ResolvedPosition => {
  const tip = readTipSeq(rows, history, branchId);
  switch (marker.kind) {
    case 'working':
      return { branchId, seq: tip, cycle: null };
    case 't': {
      const { cycle } = readPositionMeta(rows, history, branchId, tip).meta;
      return snapshotAt(rows, history, branchId, tip, cycle - Math.abs(marker.value), `@t${marker.value}`);
    }
    case 'c':
      return snapshotAt(rows, history, branchId, tip, marker.cycle, `@c${marker.cycle}`);
    case 's': {
      const frameSummary = findFrameSummary(rows, history, marker.seq);
      if (frameSummary.observed)
        throw fail(
          'E_SNAPSHOT_NOT_FOUND',
          `frame ${marker.seq} has only observations: it is not a position`,
          {
            history,
            seq: marker.seq,
          },
        );
      return withCycle(rows, history, frameSummary.branchId, frameSummary.seq);
    }
    case 'name': {
      const named = findNamedPosition(rows, history, marker.name);
      if (named === undefined)
        throw fail('E_SNAPSHOT_NOT_FOUND', `no position of ${history} has the name ${marker.name}`, {
          history,
          name: marker.name,
        });
      return withCycle(rows, history, named.branchId, named.seq);
    }
  }
};

/** Cycles count without gaps along an ancestor path, so `@t-n` is the snapshot of the newest cycle less n. */
const snapshotAt = (
  rows: RowReader,
  history: string,
  branchId: number,
  tip: number,
  cycle: number,
  askedFor: string,
): ResolvedPosition => {
  const found = cycle < 0 ? undefined : findSnapshot(rows, history, branchId, tip, cycle);
  if (found === undefined) throw noSnapshot(rows, history, branchId, askedFor);
  return { branchId: found.branchId, seq: found.seq, cycle };
};

/** The branch has no such snapshot, as somebody asked for it. */
export const noSnapshot = (rows: RowReader, history: string, branchId: number, asked: string): Error =>
  fail(
    'E_SNAPSHOT_NOT_FOUND',
    `the branch ${branchTitle(rows, history, branchId)} of ${history} has no snapshot ${asked}`,
    { history, branchId, asked },
  );

/** A branch as people call it: by its name, else its number. */
const branchTitle = (rows: RowReader, history: string, branchId: number): string =>
  readBranch(rows, history, branchId).name ?? String(branchId);

const withCycle = (rows: RowReader, history: string, branchId: number, seq: number): ResolvedPosition => {
  const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
  const snapshot = findSnapshot(rows, history, branchId, seq, cycle);
  return { branchId, seq, cycle: snapshot?.seq === seq ? cycle : null };
};
