import { z } from 'zod';
import { id } from './node-shape.ts';

/**
 * A node was due at a commit but stays, shown with `ttl` 0, because `by` (which stays) names it or a descendant in
 * `refs` (context-tree §3, §10.11). Recorded once, when the hold begins; it ends with `NodeExpired` or `NodeCascaded`.
 */
export const NodeHeld = z.strictObject({ type: z.literal('NodeHeld'), id, by: id });
