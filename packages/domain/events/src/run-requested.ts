import { z } from 'zod';

const limit = z.int().min(1).nullable();

/**
 * An actor asks that a pool runs on its branch: whichever runner takes the request makes the rounds (pool: Runner). The id of the frame's
 * command is the id of the run. Limits that are null do not count.
 */
export const RunRequested = z.strictObject({
  type: z.literal('RunRequested'),
  rounds: z.int().min(1),
  /** A `run` intervention is recorded after so many rounds, and at the end. */
  checkpointEvery: limit,
  tokens: limit,
  /** A decimal number, in the currency of the prices of the runner's home. */
  cost: z.string().max(64).nullable(),
  seconds: limit,
});
