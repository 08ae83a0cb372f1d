import { z } from 'zod';
import { defineStep } from './step.ts';

/** Asks that a pool runs on the branch; the id of the command is that of the run (pool: Runner). */
export const requestRun = defineStep({
  op: 'request_run',
  schema: z.strictObject({
    op: z.literal('request_run'),
    rounds: z.int().min(1).max(1_000_000),
    checkpoint_every: z.int().min(1).optional(),
    tokens: z.int().min(1).optional(),
    cost: z
      .string()
      .regex(/^\d{1,18}(\.\d{1,18})?$/)
      .optional(),
    seconds: z.int().min(1).optional(),
  }),
  on: 'its branch',
  kind: 'run',
  alone: true,
  byActor: true,
  secrets: { rounds: 'none', checkpoint_every: 'none', tokens: 'none', cost: 'none', seconds: 'none' },
  *decide(_pending, step) {
    const { rounds, checkpoint_every: checkpointEvery = null } = step;
    const { tokens = null, cost = null, seconds = null } = step;
    yield { type: 'RunRequested', rounds, checkpointEvery, tokens, cost, seconds };
  },
});
