import { fail } from '@stemma/errors';
import { AFTER_TIMEOUT, CALL_APIS } from '@stemma/events';
import { z } from 'zod';
import { positionOf } from '../decide/positions.ts';
import { count, id } from './fields.ts';
import { defineStep } from './step.ts';

/** The id of the command that holds an attempt. */
export const holdOf = (attemptId: string): string => `${attemptId}.held`;

/**
 * Records that a call waits before it goes out, with what the branch's tip shows. The id of the command is the attempt's with
 * `.held` behind it (calls §5).
 *
 * @throws E_COMMAND_INVALID
 */
export const holdCall = defineStep({
  op: 'hold_call',
  schema: z.strictObject({
    op: z.literal('hold_call'),
    attemptId: id,
    api: z.enum(CALL_APIS),
    model: z.string().max(512).nullable(),
    breakpoints: z.array(id.max(128)).min(1).max(1_000),
    until: count,
    then: z.enum(AFTER_TIMEOUT),
  }),
  on: 'its branch',
  kind: 'run',
  secrets: {
    model: { as: 'model' },
    attemptId: 'none',
    api: 'none',
    breakpoints: 'none',
    until: 'none',
    then: 'none',
  },
  *decide(pending, { op: _op, attemptId, ...rest }) {
    if (pending.command !== holdOf(attemptId))
      throw fail('E_COMMAND_INVALID', `the command that holds a call must have the id ${holdOf(attemptId)}`);
    const at = positionOf(pending, undefined);
    yield { type: 'CallHeld', attemptId, ...at, cycle: pending.branch.tree.open, ...rest };
  },
});
