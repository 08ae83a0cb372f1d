import { z } from 'zod';
import { count, id } from './node-shape.ts';

/** A node, and with it its subtree, lies under another parent; `expires` of every moved node as it is now (context-tree §3.3). */
export const NodeMoved = z.strictObject({
  type: z.literal('NodeMoved'),
  id,
  parent: id,
  /** Expiry of the node and its subtree where the move changed it: leaving `^sys` starts it, entering ends it. */
  expires: z.array(z.strictObject({ id, expires: count.nullable() })),
});
