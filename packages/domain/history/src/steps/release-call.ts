import { fail } from '@stemma/errors';
import { RELEASES } from '@stemma/events';
import { z } from 'zod';
import { checkNotes } from '../texts.ts';
import { id } from './fields.ts';
import { holdOf } from './hold-call.ts';
import { defineStep } from './step.ts';

/** The id of the command that releases an attempt. */
export const releaseOf = (attemptId: string): string => `${attemptId}.released`;

/**
 * Records that a held call waits no longer. It is released once, since the id of the command is the attempt's with `.released` behind it.
 *
 * @throws E_CALL_NOT_HELD, E_COMMAND_INVALID
 */
export const releaseCall = defineStep({
  op: 'release_call',
  schema: z.strictObject({
    op: z.literal('release_call'),
    attemptId: id,
    how: z.enum(RELEASES),
    message: z.string().max(4096).nullable(),
  }),
  on: 'its branch',
  kind: 'edit',
  alone: true,
  secrets: { message: { as: 'message' }, attemptId: 'none', how: 'none' },
  *decide(pending, { attemptId, how, message }) {
    if (pending.command !== releaseOf(attemptId))
      throw fail(
        'E_COMMAND_INVALID',
        `the command that releases a call must have the id ${releaseOf(attemptId)}`,
      );
    if (pending.lookups.command(holdOf(attemptId)) === undefined)
      throw fail('E_CALL_NOT_HELD', `no call ${attemptId} of this history was held`, { attempt: attemptId });
    yield {
      type: 'CallReleased',
      attemptId,
      how,
      message: message === null ? null : checkNotes(message, 'the message'),
    };
  },
});
