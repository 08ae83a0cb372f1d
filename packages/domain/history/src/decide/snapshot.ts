import type { HistoryEvent } from '@stemma/events';
import { closeCycle } from '../evolve.ts';
import type { PendingFrame } from './pending-frame.ts';

/** Ends a cycle, and records the tree as its snapshot. What `evolve` compares with it is computed here. */
export function* recordSnapshot(
  pending: PendingFrame,
  type: 'SnapshotCommitted' | 'SnapshotImported',
  cycle: number,
): Iterable<HistoryEvent> {
  const { tree } = pending.branch;
  closeCycle(pending.branch, cycle);
  const { treeHash, threadHash } = tree.hashes(pending.sources.payload);
  yield { type, cycle, treeHash, threadHash, counts: tree.counts };
}
