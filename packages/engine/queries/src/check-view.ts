import { compareBytes } from '@stemma/canonical';
import { hashFlat } from '@stemma/context-tree';
import { rowsDiffer, snapshotAtPosition, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { viewOf } from './read.ts';

/**
 * Reads a position with its contents and computes the hashes of the snapshot that it is from nothing, as `stemma verify`
 * does. Rows that do not give the recorded ones are built again, and compared once more.
 *
 * @throws E_ROWS_DAMAGED if the rows that were built again do not give them either. E_CONTENT_MISSING,
 *   E_CONTENT_DAMAGED
 */
export const checkSnapshotRows = async (projection: Projection, position: Position): Promise<void> => {
  if (await hasRecordedHashes(projection, position)) return;
  const differ = rowsDiffer(position.history, position.branchId, position.seq);
  let told = false;
  await projection.read(() => {
    if (told) return;
    told = true;
    throw differ;
  });
  if (!(await hasRecordedHashes(projection, position))) throw differ;
};

const hasRecordedHashes = async (projection: Projection, position: Position): Promise<boolean> => {
  const view = await viewOf(projection, position);
  const snapshot = await projection.read((rows) => snapshotAtPosition(rows, position));
  if (snapshot === undefined) return true;
  const { treeHash, threadHash } = hashFlat(view.tree, view.payloads, view.thread);
  return (
    compareBytes(treeHash, snapshot.treeHash) === 0 && compareBytes(threadHash, snapshot.threadHash) === 0
  );
};
