import { fail } from '@stemma/errors';
import { z } from 'zod';
import type { PendingFrame } from '../decide/pending-frame.ts';
import { checkNotes } from '../texts.ts';
import { count, id } from './fields.ts';
import { defineStep } from './step.ts';

/** @throws E_RUN_NOT_FOUND if nobody asked for it in the history */
export const requireRun = ({ lookups }: PendingFrame, run: string): void => {
  if (lookups.command(run) === undefined)
    throw fail('E_RUN_NOT_FOUND', `nobody asked for a run ${run} in this history`, { run });
};

/** Records that a runner makes the rounds of a run (pool: Runner). @throws E_RUN_NOT_FOUND */
export const takeRun = defineStep({
  op: 'take_run',
  schema: z.strictObject({
    op: z.literal('take_run'),
    run: id.max(256),
    runner: z.string().max(256),
    round: count,
  }),
  on: 'its branch',
  kind: 'run',
  alone: true,
  secrets: { runner: 'name', run: 'none', round: 'none' },
  *decide(pending, { run, runner, round }) {
    requireRun(pending, run);
    yield { type: 'RunTaken', run, runner: checkNotes(runner, 'the name of the runner'), round };
  },
});
