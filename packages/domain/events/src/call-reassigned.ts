import { z } from 'zod';
import { CallAddress } from './call-started.ts';

/**
 * Somebody says that a call belongs to another conversation, where it is recorded as the call `to` (calls §8). What was recorded
 * stays. `list` and `brings` are those of its prompt, by which no call is found here any more; null: none was.
 */
export const CallReassigned = z.strictObject({
  type: z.literal('CallReassigned'),
  attemptId: z.string().min(1),
  to: CallAddress,
  prompt: z
    .strictObject({
      list: z.string().regex(/^[0-9a-f]{32}$/),
      brings: z.array(z.string().regex(/^[0-9a-f]{16}$/)),
    })
    .nullable(),
});
