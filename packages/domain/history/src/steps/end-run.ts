import { fail } from '@stemma/errors';
import { RUN_ENDS } from '@stemma/events';
import { z } from 'zod';
import { checkNotes } from '../texts.ts';
import { count, id } from './fields.ts';
import { defineStep } from './step.ts';
import { requireRun } from './take-run.ts';

/** The id of the command that ends a run: it ends once. */
export const endOfRun = (run: string): string => `${run}.ended`;

/**
 * Ends a run (pool: Runner). The id of the command is the run's with `.ended` behind it.
 *
 * @throws E_RUN_NOT_FOUND, E_COMMAND_INVALID
 */
export const endRun = defineStep({
  op: 'end_run',
  schema: z.strictObject({
    op: z.literal('end_run'),
    run: id.max(240),
    how: z.enum(RUN_ENDS),
    why: z.string().max(4096),
    code: z.string().max(64).nullable(),
    rounds: count.nullable(),
  }),
  on: 'its branch',
  kind: 'run',
  alone: true,
  secrets: { why: { as: 'why' }, run: 'none', how: 'none', code: 'none', rounds: 'none' },
  *decide(pending, { run, how, why, code, rounds }) {
    requireRun(pending, run);
    if (pending.command !== endOfRun(run))
      throw fail('E_COMMAND_INVALID', `the command that ends a run must have the id ${endOfRun(run)}`);
    yield { type: 'RunEnded', run, how, why: checkNotes(why, 'the reason'), code, rounds };
  },
});
