import { z } from 'zod';
import { id } from './node-shape.ts';

/**
 * A commit removed a node because of another (context-tree §3.1, §10.13): `contained`, it lay in the container `by`
 * that expired; `emptied`, it is a removable container whose last child `by` expired or was pruned.
 */
export const NodeCascaded = z.strictObject({
  type: z.literal('NodeCascaded'),
  id,
  why: z.enum(['contained', 'emptied']),
  by: id,
});
