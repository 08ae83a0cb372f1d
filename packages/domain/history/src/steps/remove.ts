import { requireRemovable } from '@stemma/context-tree';
import { z } from 'zod';
import { id } from './fields.ts';
import { defineStep } from './step.ts';

/** Removes a node with its children by hand (context-tree §3, §10.16, §10.18). */
export const remove = defineStep({
  op: 'remove',
  schema: z.strictObject({ op: z.literal('remove'), id }),
  on: 'its branch',
  request: { without: [] },
  kind: 'edit',
  secrets: { id: 'name' },
  *decide(pending, step) {
    const { subtree } = requireRemovable(pending.branch.tree, step.id);
    yield { type: 'NodeRemoved', id: step.id, subtree: [...subtree] };
  },
});
