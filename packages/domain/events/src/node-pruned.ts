import { z } from 'zod';
import { count, id } from './node-shape.ts';

/** A commit pruned a block because of the policy's `max_blocks` (context-tree §3.2, §10.14); `rank` counts from 0. */
export const NodePruned = z.strictObject({
  type: z.literal('NodePruned'),
  id,
  rank: count,
  rule: z.literal('max_blocks'),
});
