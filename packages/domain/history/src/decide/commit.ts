import { planExpiry, planPrune, type Headers } from '@stemma/context-tree';
import type { StepOf } from '../command.ts';
import { closeCycle } from '../evolve.ts';
import { joinNode } from '../recorded-node.ts';
import { emit, newId, timeOf, turnIdAt, type PendingFrame } from './pending-frame.ts';

/** Ends the cycle (context-tree §3): expire, prune, age (which records nothing), seal, snapshot. */
export const decideCommit = (pending: PendingFrame, step: StepOf<'commit'>): void => {
  const { branch } = pending;
  const expiry = planExpiry(branch.tree);
  for (const fact of expiry.facts) emit(pending, fact);
  if (branch.policy !== null)
    for (const fact of planPrune(branch.tree, branch.policy, expiry.emptiedButHeld)) emit(pending, fact);
  seal(pending, step);
  recordSnapshot(pending, 'SnapshotCommitted', branch.tree.open);
};

/** Seals the head as a turn; an empty head gives none (context-tree §3.4). */
const seal = (pending: PendingFrame, step: StepOf<'commit'>): void => {
  const { branch } = pending;
  if ((branch.tree.ah.kids ?? []).length === 0) return;
  const cycle = branch.tree.open;
  const headers: Headers = {
    id: newId(pending, step.turn_id, turnIdAt(branch.branchId, cycle)),
    nodeType: 'mt',
    offset: 0,
    ttl: null,
    priority: 0,
    cycle,
    created_at_ns: timeOf(pending, step.at_ns),
    creation_index: branch.nextIndex,
  };
  emit(pending, { type: 'TurnSealed', turn: joinNode(headers, {}) });
};

/** Ends a cycle, and records the tree as its snapshot. What {@link evolve} compares with it is computed here. */
export const recordSnapshot = (
  pending: PendingFrame,
  type: 'SnapshotCommitted' | 'SnapshotImported',
  cycle: number,
): void => {
  const { tree } = pending.branch;
  closeCycle(pending.branch, cycle);
  const { treeHash, threadHash } = tree.hashes(pending.sources.payload);
  pending.events.push({ type, cycle, treeHash, threadHash, counts: tree.counts });
};
