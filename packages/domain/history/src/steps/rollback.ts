import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import { z } from 'zod';
import { describeStart, newBranchName, requireTip } from '../decide/branches.ts';
import type { PendingFrame } from '../decide/pending-frame.ts';
import { refuseMissing } from '../decide/positions.ts';
import type { BranchTip } from '../state.ts';
import { position } from './fields.ts';
import { startOfBranch } from './fork.ts';
import { defineStep } from './step.ts';

/**
 * Rolls the branch back to an earlier position of its ancestor path: a new branch starts there and takes the name (context-tree §5). The
 * abandoned branch keeps its id, and may get a name. The cost does not depend on the tree's size.
 *
 * @throws E_BRANCH_NOT_FOUND, E_SNAPSHOT_NOT_FOUND, E_NOT_ON_ANCESTOR_PATH, E_NAME_INVALID, E_NAME_TAKEN
 */
export const rollback = defineStep({
  op: 'rollback',
  schema: z.strictObject({
    op: z.literal('rollback'),
    to: position,
    abandoned: z.string().nullable().optional(),
    description: z.string().optional(),
  }),
  on: 'a new branch',
  request: { without: [] },
  kind: 'rollback',
  alone: true,
  reference: { field: 'to', recorded: startOfBranch },
  secrets: { abandoned: 'name', description: { as: 'description' }, to: 'none' },
  *decide(pending, { to, abandoned = null, description }) {
    const from = requireTip(pending);
    refuseMissing(pending, to);
    refuseNotAncestor(pending, from, to);
    yield {
      type: 'BranchStarted',
      how: 'rollback',
      parent: from.branchId,
      at: to.seq,
      name: from.name,
      abandoned: newBranchName(pending, abandoned),
    };
    yield* describeStart(pending, description);
  },
});

const refuseNotAncestor = ({ tipOf }: PendingFrame, from: BranchTip, to: BranchPosition): void => {
  let [tip, limit]: [BranchTip | undefined, number] = [from, from.seq];
  while (tip !== undefined) {
    if (tip.branchId === to.branchId && to.seq <= limit) return;
    if (tip.parent === null) break;
    limit = Math.min(limit, tip.parent.at);
    tip = tipOf(tip.parent.branchId);
  }
  throw fail(
    'E_NOT_ON_ANCESTOR_PATH',
    `position ${to.seq} of branch ${to.branchId} is not on the ancestor path of branch ${from.branchId}`,
    { ...to, branch: from.branchId },
  );
};
