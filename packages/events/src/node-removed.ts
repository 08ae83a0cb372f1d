import { z } from 'zod';
import { id } from './node-shape.ts';

/** A node was taken out by hand; `subtree` names what went with it, in canonical order (context-tree §3). */
export const NodeRemoved = z.strictObject({
  type: z.literal('NodeRemoved'),
  id,
  subtree: z.array(id),
});
