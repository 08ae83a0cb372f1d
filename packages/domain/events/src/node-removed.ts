import { z } from 'zod';
import { id } from './node-shape.ts';

/** A command removed a node; `subtree` names what was removed with it, in canonical order (context-tree §3). */
export const NodeRemoved = z.strictObject({
  type: z.literal('NodeRemoved'),
  id,
  subtree: z.array(id),
});
