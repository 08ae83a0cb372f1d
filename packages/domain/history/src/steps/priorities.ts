import { priorityOf, requireNode } from '@stemma/context-tree';
import { z } from 'zod';
import { id } from './fields.ts';
import { defineStep } from './step.ts';

/** Changes priorities of any nodes, as the policy decides (context-tree §10.15). */
export const priorities = defineStep({
  op: 'priorities',
  schema: z.strictObject({
    op: z.literal('priorities'),
    priorities: z.array(z.strictObject({ id, priority: z.number() })),
  }),
  on: 'its branch',
  kind: 'edit',
  secrets: { priorities: { names: 'the id of a node', of: (list) => list.map((each) => each.id) } },
  *decide(pending, step) {
    for (const { id: nodeId, priority } of step.priorities) {
      requireNode(pending.branch.tree, nodeId);
      yield {
        type: 'PriorityChanged',
        id: nodeId,
        priority: priorityOf(priority, { code: 'E_POLICY_INVALID', what: nodeId }),
      };
    }
  },
});
