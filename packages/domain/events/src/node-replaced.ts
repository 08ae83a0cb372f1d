import { z } from 'zod';
import { id, payloadValue } from './node-shape.ts';

/**
 * A node's content or attributes changed (context-tree §2, §10.10). `payload` is all of it as it is now: `content` (if
 * it has one) and every attribute that is not a header; `fields` names those the command set, sorted.
 */
export const NodeReplaced = z.strictObject({
  type: z.literal('NodeReplaced'),
  id,
  fields: z.array(z.string()),
  payload: z.record(z.string(), payloadValue),
});
