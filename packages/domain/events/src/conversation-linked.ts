import { z } from 'zod';
import { CallAddress } from './call-started.ts';
import { count } from './node-shape.ts';

/** Somebody says which call led to the conversation on a branch; null: none did (calls §8). */
export const ConversationLinked = z.strictObject({
  type: z.literal('ConversationLinked'),
  branchId: count,
  parent: CallAddress.nullable(),
});
