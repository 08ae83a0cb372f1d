import { z } from 'zod';
import { count } from './node-shape.ts';

/**
 * A runner makes the rounds of a run from now on (pool: Runner). The first one says from which round the run counts; each further one takes
 * the place of a runner that is gone.
 */
export const RunTaken = z.strictObject({
  type: z.literal('RunTaken'),
  run: z.string().min(1),
  /** What the runner calls itself. */
  runner: z.string().max(256),
  /** The newest round of the branch that was done then. */
  round: count,
});
