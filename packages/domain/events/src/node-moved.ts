import { z } from 'zod';
import { count, id } from './node-shape.ts';

/** A node was moved with its subtree to another parent (context-tree §3.3). */
export const NodeMoved = z.strictObject({
  type: z.literal('NodeMoved'),
  id,
  parent: id,
  /**
   * New `expires` of the node and its subtree where the move changed it: leaving `^sys` starts it, entering ends it.
   */
  expires: z.array(z.strictObject({ id, expires: count.nullable() })),
});
