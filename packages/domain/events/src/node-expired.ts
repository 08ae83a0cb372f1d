import { z } from 'zod';
import { id } from './node-shape.ts';

/** A node's own `ttl` was 0 at a commit and nothing held it (context-tree §3.1, §10.13). */
export const NodeExpired = z.strictObject({ type: z.literal('NodeExpired'), id });
