import { z } from 'zod';
import { id } from './node-shape.ts';

/** The policy gave a node another priority (context-tree §10.15). */
export const PriorityChanged = z.strictObject({
  type: z.literal('PriorityChanged'),
  id,
  priority: z.number(),
});
