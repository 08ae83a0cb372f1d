import { z } from 'zod';
import { count, id } from './node-shape.ts';

const policy = z.strictObject({ max_blocks: count, keep_turns: count, pins: z.array(id) });

/** The pruning policy of the branch from now on; null: nothing is pruned (context-tree §3.2, §10.14). */
export const PolicyConfigured = z.strictObject({
  type: z.literal('PolicyConfigured'),
  policy: policy.nullable(),
});
