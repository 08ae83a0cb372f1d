import { compareBytes } from '@stemma/canonical';
import { kindOfType, NODE_KIND, type EventRef, type FixedName, type Tree } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { isOfOne, type EventOf, type HistoryEvent } from '@stemma/events';
import { changedConfig, type ConfigChange } from './config.ts';
import { splitNode } from './recorded-node.ts';
import { refuseVectors } from './recorded-vectors.ts';
import type { BranchState, Sources } from './state.ts';

const defect = (message: string): Error => fail('E_HISTORY_DEFECTIVE', message);

/**
 * Events that {@link evolve} applies. {@link applyFrame} handles starts, which make the branch, and observations, which
 * change none.
 */
export type BranchEvent = Exclude<HistoryEvent, EventOf<'start' | 'observation'>>;

/** The categories of events that say something of the branch itself. */
const APPLIED = ['tree', 'snapshot', 'configuration', 'vectors'] as const;

/**
 * Applies one recorded fact to a branch. It knows no rules of lifetimes, only what the fact states; it checks that the
 * fact fits the tree and that snapshots have the recorded hashes.
 *
 * @throws E_HISTORY_DEFECTIVE when it does not fit; Missing (payloads). The caller restores the tree.
 */
export const evolve = (branch: BranchState, event: BranchEvent, ref: EventRef, sources: Sources): void => {
  if (!isOfOne(event, APPLIED)) return;
  const { tree } = branch;
  switch (event.type) {
    case 'NodeInserted': {
      const { headers, payload } = splitNode(event.node);
      refusePastExpiry(event.expires, tree);
      tree.insert(event.parent, { headers, expires: event.expires, payload: ref, contents: payload });
      raiseNewest(branch, headers.created_at_ns);
      branch.nextIndex = Math.max(branch.nextIndex, headers.creation_index + 1);
      return;
    }
    case 'NodeImported': {
      importNode(branch, event, ref);
      return;
    }
    case 'NodeReplaced':
      tree.replace(event.id, ref, event.payload as never);
      return;
    case 'NodeMoved':
      for (const { expires } of event.expires) refusePastExpiry(expires, tree);
      tree.move(event.id, event.parent, new Map(event.expires.map(({ id, expires }) => [id, expires])));
      return;
    case 'NodeRemoved':
      tree.remove(event.id);
      for (const id of event.subtree) tree.remove(id);
      if (!tree.hasNoOrphans) throw defect(`the removal of ${event.id} leaves nodes behind`);
      return;
    case 'NodeExpired':
    case 'NodeCascaded':
    case 'NodePruned':
      tree.remove(event.id);
      return;
    case 'NodeHeld':
      tree.hold(event.id);
      return;
    case 'TurnSealed': {
      const { headers, payload } = splitNode(event.turn);
      tree.seal(headers, ref, payload);
      raiseNewest(branch, headers.created_at_ns);
      return;
    }
    case 'SnapshotCommitted':
      if (event.cycle !== tree.open)
        throw defect(`cycle ${event.cycle} is committed while ${tree.open} is open`);
      {
        checkSnapshot(branch, event, sources);
        return;
      }
    case 'SnapshotImported':
      if (event.cycle !== tree.cycle)
        throw defect(`cycle ${event.cycle} is imported into a tree of cycle ${tree.cycle}`);
      {
        checkSnapshot(branch, event, sources);
        return;
      }
    case 'PolicyConfigured':
      branch.policy = event.policy;
      return;
    case 'PriorityChanged':
      tree.reprioritise(event.id, event.priority);
      return;
    case 'ConfigurationChanged':
      branch.config = changedConfig(branch.config, event.changes as readonly ConfigChange[]);
      return;
    case 'VectorsRecorded': {
      const wrong = refuseVectors(event);
      if (wrong !== null) throw defect(`recorded vectors are none: ${wrong}`);
      return;
    }
  }
};

const raiseNewest = (branch: BranchState, time: bigint): void => {
  if (time > branch.newest) branch.newest = time;
};

/** Refuses an expiry in the past: no later commit would remove the node. */
const refusePastExpiry = (expires: number | null, tree: Tree): void => {
  if (expires !== null && expires < tree.open)
    throw defect(`a node enters that was to go in cycle ${expires}`);
};

const importNode = (
  branch: BranchState,
  event: Extract<HistoryEvent, { type: 'NodeImported' }>,
  ref: EventRef,
): void => {
  const { tree } = branch;
  const { headers, payload } = splitNode(event.node);
  const fixed = FIXED[headers.nodeType];
  const entering = { headers, expires: event.expires, payload: ref, contents: payload };
  refusePastExpiry(event.expires, tree);
  if (fixed !== undefined) tree.setFixed(fixed, headers, ref, payload);
  else if (event.parent === null) throw defect(`${headers.id} has no parent`);
  else if (kindOfType(headers.nodeType) === NODE_KIND.turn) tree.addTurn(event.ordinal ?? 0, entering);
  else tree.insert(event.parent, entering);
  raiseNewest(branch, headers.created_at_ns);
};

const FIXED: { readonly [nodeType: string]: FixedName | undefined } = {
  '^root': 'root',
  '^sys': 'sys',
  '^seq': 'seq',
  '^ah': 'ah',
};

const checkSnapshot = (branch: BranchState, event: EventOf<'snapshot'>, sources: Sources): void => {
  const { tree } = branch;
  closeCycle(branch, event.cycle);
  const { counts } = tree;
  if (
    counts.nodes !== event.counts.nodes ||
    counts.blocks !== event.counts.blocks ||
    counts.turns !== event.counts.turns
  )
    throw defect(`cycle ${event.cycle} has other counts than recorded`);
  const { treeHash, threadHash } = tree.hashes(sources.payload);
  if (compareBytes(treeHash, event.treeHash) !== 0)
    throw defect(`cycle ${event.cycle} has another tree hash than recorded`);
  if (compareBytes(threadHash, event.threadHash) !== 0)
    throw defect(`cycle ${event.cycle} has another thread hash than recorded`);
};

/**
 * Ends the cycle of a branch: the next node is the first of the next cycle (context-tree §10.6).
 *
 * @throws E_HISTORY_DEFECTIVE if a node is there that should have gone
 */
export const closeCycle = (branch: BranchState, cycle: number): void => {
  const { tree } = branch;
  if (!tree.hasNoOrphans) throw defect(`cycle ${cycle} leaves nodes behind whose container has gone`);
  tree.close(cycle);
  if (tree.overdue) throw defect(`a node that goes in cycle ${cycle} is still there`);
  branch.nextIndex = 0;
};
