import { z } from 'zod';
import { describeStart, newBranchName, requireTip } from '../decide/branches.ts';
import { refuseMissing } from '../decide/positions.ts';
import { position } from './fields.ts';
import { defineStep, type RecordedEvents, type RecordedPosition } from './step.ts';

/** Where the branch of a frame starts. */
export const startOfBranch = (events: RecordedEvents): RecordedPosition | undefined => {
  const started = events('BranchStarted');
  return started && { branchId: started.parent, seq: started.at, how: started.how };
};

/**
 * Starts a new branch at a position of any branch; the default is this branch's tip (context-tree §5). The cost does not depend on the
 * tree's size.
 *
 * @throws E_BRANCH_NOT_FOUND, E_SNAPSHOT_NOT_FOUND, E_NAME_INVALID, E_NAME_TAKEN
 */
export const fork = defineStep({
  op: 'fork',
  schema: z.strictObject({
    op: z.literal('fork'),
    name: z.string().nullable().optional(),
    description: z.string().optional(),
    at: position.optional(),
  }),
  on: 'a new branch',
  request: { without: [] },
  kind: 'fork',
  alone: true,
  reference: { field: 'at', recorded: startOfBranch },
  secrets: { name: 'name', description: { as: 'description' }, at: 'none' },
  *decide(pending, step) {
    const tip = requireTip(pending);
    const at = step.at ?? { branchId: tip.branchId, seq: tip.seq };
    refuseMissing(pending, at);
    yield {
      type: 'BranchStarted',
      how: 'fork',
      parent: at.branchId,
      at: at.seq,
      name: newBranchName(pending, step.name ?? null),
      abandoned: null,
    };
    yield* describeStart(pending, step.description);
  },
});
