import { planExpiry, planPrune, type Headers } from '@stemma/context-tree';
import type { StepOf } from '../command.ts';
import { closeCycle } from '../evolve.ts';
import { joinNode } from '../recorded-node.ts';
import { emit, newId, timeOf, turnIdAt, type Draft } from './draft.ts';

/** A cycle ends (context-tree §3): expire, prune, age (which records nothing), seal, snapshot. */
export const decideCommit = (draft: Draft, step: StepOf<'commit'>): void => {
  const { lineage } = draft;
  const expiry = planExpiry(lineage.tree);
  for (const fact of expiry.facts) emit(draft, fact);
  if (lineage.policy !== null)
    for (const fact of planPrune(lineage.tree, lineage.policy, expiry.emptiedButHeld)) emit(draft, fact);
  seal(draft, step);
  const cycle = lineage.tree.open;
  closeCycle(lineage, cycle);
  recordSnapshot(draft, 'SnapshotCommitted');
};

/** An empty head gives no turn (context-tree §3.4). */
const seal = (draft: Draft, step: StepOf<'commit'>): void => {
  const { lineage } = draft;
  if ((lineage.tree.ah.kids ?? []).length === 0) return;
  const cycle = lineage.tree.open;
  const headers: Headers = {
    id: newId(draft, step.turn_id, turnIdAt(lineage.strand, cycle)),
    nodeType: 'mt',
    offset: 0,
    ttl: null,
    priority: 0,
    cycle,
    created_at_ns: timeOf(draft, step.at_ns),
    creation_index: lineage.nextIndex,
  };
  emit(draft, { type: 'TurnSealed', turn: joinNode(headers, {}) });
};

/** Records the tree as it is as the snapshot of its cycle. */
export const recordSnapshot = (draft: Draft, type: 'SnapshotCommitted' | 'SnapshotImported'): void => {
  const { tree } = draft.lineage;
  const { treeHash, threadHash } = tree.hashes(draft.sources.payload);
  draft.events.push({ type, cycle: tree.cycle, treeHash, threadHash, counts: tree.counts });
};
