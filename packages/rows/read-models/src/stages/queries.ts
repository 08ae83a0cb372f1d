import { toHex } from '@stemma/canonical';
import { listRows, type RowReader } from '@stemma/row-store';
import { hashRaw } from './hash-stages.ts';
import { stageNodesOf, type StageNode } from './node-row.ts';
import { findOwner, streamPositionAt, streamRows } from './stream-rows.ts';
import { STAGE_NODES } from './tables.ts';

/** The hashes of a snapshot's stream and of its stage RAW, lower-case hex. From one row and one hash. */
export type SnapshotStages = {
  readonly cycle: number;
  readonly branchId: number;
  readonly seq: number;
  readonly nodeHash: string;
  readonly z1: string;
};

/** How many nodes the stream has at a position. @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND */
export const countStream = (rows: RowReader, history: string, branchId: number, seq: number): number =>
  streamPositionAt(rows, history, branchId, seq).count;

/**
 * The nodes of the stream at a position, in order: those of its ancestors up to where it branches off, then its own.
 *
 * @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND
 */
export const listStream = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): readonly StageNode[] => streamRows(rows, history, branchId, seq).flatMap(stageNodesOf);

/** The nodes that one frame of a branch added to its stream, in order. */
export const listFrameNodes = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): readonly StageNode[] =>
  listRows(rows, STAGE_NODES, { history, branch_id: branchId, seq }).flatMap(stageNodesOf);

/** The hashes of the snapshot at a position; undefined if the position is not a snapshot. */
export const findSnapshotStages = (
  rows: RowReader,
  history: string,
  branchId: number,
  seq: number,
): SnapshotStages | undefined => {
  const owner = findOwner(rows, history, branchId, seq);
  const frame = { history, branch_id: owner.branchId, seq: owner.limit };
  const [last] = listRows(rows, STAGE_NODES, frame, { reverse: true, limit: 1 });
  if (last === undefined) return undefined;
  const { cycle, hashes, kinds } = last;
  if (kinds === null) return undefined;
  const nodeHash = toHex(hashes.subarray(0, 32));
  return {
    cycle,
    branchId: owner.branchId,
    seq: owner.limit,
    nodeHash,
    z1: hashRaw(kinds as readonly number[], nodeHash),
  };
};
