import { fail } from '@stemma/errors';
import { CallAddress } from '@stemma/events';
import { z } from 'zod';
import { id } from './fields.ts';
import { defineStep } from './step.ts';

/**
 * Says that a call belongs elsewhere (calls §8); `list` and `brings` are those of its prompt.
 *
 * @throws E_CALL_NOT_FOUND
 */
export const reassignCall = defineStep({
  op: 'reassign_call',
  schema: z.strictObject({
    op: z.literal('reassign_call'),
    attemptId: id,
    to: CallAddress,
    prompt: z.strictObject({ list: z.string(), brings: z.array(z.string()) }).nullable(),
  }),
  on: 'its branch',
  kind: 'edit',
  byActor: true,
  secrets: { attemptId: 'none', to: 'none', prompt: 'none' },
  *decide(pending, { attemptId, to, prompt }) {
    if (pending.lookups.command(attemptId) === undefined)
      throw fail('E_CALL_NOT_FOUND', `no command of this history started the call ${attemptId}`, {
        attempt: attemptId,
      });
    yield { type: 'CallReassigned', attemptId, to, prompt };
  },
});
