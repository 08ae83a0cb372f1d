import { fail } from '@stemma/errors';
import { OBSERVATIONS } from '@stemma/events';
import { z } from 'zod';
import { requireTip } from '../decide/branches.ts';
import { refuseMissing } from '../decide/positions.ts';
import { checkWhat } from '../texts.ts';
import { nanoseconds, position } from './fields.ts';
import { defineStep } from './step.ts';

/**
 * Records what an actor looked at, outside of every branch (pool: Observations). The caller has checked that the history records
 * observations.
 *
 * @throws E_BRANCH_NOT_FOUND, E_SNAPSHOT_NOT_FOUND, E_COMMAND_INVALID
 */
export const observe = defineStep({
  op: 'observe',
  schema: z.strictObject({
    op: z.literal('observe'),
    observations: z
      .array(
        z.strictObject({
          kind: z.enum(OBSERVATIONS),
          what: z.string(),
          at: position,
          times: z.int().min(1),
          first_at: nanoseconds,
          last_at: nanoseconds,
        }),
      )
      .min(1)
      .max(10_000),
  }),
  on: 'no branch',
  kind: null,
  alone: true,
  byActor: true,
  secrets: { observations: { each: 'what', as: 'what' } },
  *decide(pending, { observations }) {
    requireTip(pending);
    for (const { kind, what, at, times, first_at, last_at } of observations) {
      refuseMissing(pending, at);
      if (at.branchId > at.seq || first_at > last_at)
        throw fail('E_COMMAND_INVALID', 'an observation ends before it starts');
      const { branchId, seq } = at;
      yield {
        type: 'ObservationRecorded',
        kind,
        what: checkWhat(what),
        branchId,
        seq,
        times,
        first_at,
        last_at,
      };
    }
  },
});
