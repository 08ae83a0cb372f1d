import { planExpiry, planPrune, type Headers } from '@stemma/context-tree';
import { z } from 'zod';
import { newId, timeOf, turnIdAt } from '../decide/pending-frame.ts';
import { recordSnapshot } from '../decide/snapshot.ts';
import { joinNode } from '../recorded-node.ts';
import { id, nanoseconds } from './fields.ts';
import { defineStep } from './step.ts';

/**
 * Ends the cycle (context-tree §3): expire, prune, age (which records nothing), seal the head as a turn, snapshot. An empty head gives no
 * turn (§3.4). `at_ns` as for `insert`.
 */
export const commit = defineStep({
  op: 'commit',
  schema: z.strictObject({
    op: z.literal('commit'),
    turn_id: id.optional(),
    at_ns: nanoseconds.optional(),
  }),
  on: 'its branch',
  request: { without: ['at_ns'] },
  kind: 'edit',
  along: true,
  snapshot: true,
  secrets: { turn_id: 'name', at_ns: 'none' },
  *decide(pending, step) {
    const { branch } = pending;
    const expiry = planExpiry(branch.tree);
    yield* expiry.facts;
    if (branch.policy !== null) yield* planPrune(branch.tree, branch.policy, expiry.emptiedButHeld);
    const cycle = branch.tree.open;
    if ((branch.tree.ah.kids ?? []).length > 0) {
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
      yield { type: 'TurnSealed', turn: joinNode(headers, {}) };
    }
    yield* recordSnapshot(pending, 'SnapshotCommitted', cycle);
  },
});
