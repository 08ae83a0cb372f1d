import { z } from 'zod';
import { count } from './node-shape.ts';

/**
 * Why a run ended: its rounds are done; a limit was reached (`tokens`, `cost`, `time`); a mind did not answer, or the pool cannot run
 * (`failed`); an actor stopped it, or abandoned its branch (`stopped`).
 */
export const RUN_ENDS = ['rounds', 'tokens', 'cost', 'time', 'failed', 'stopped'] as const;
export type RunEndedHow = (typeof RUN_ENDS)[number];

/** A run is over, by its runner or by an actor (pool: Runner). The command that records it has the run's id with `.ended` behind it. */
export const RunEnded = z.strictObject({
  type: z.literal('RunEnded'),
  run: z.string().min(1),
  how: z.enum(RUN_ENDS),
  why: z.string().max(4096),
  /** The code of the error of a run that failed. */
  code: z.string().max(64).nullable(),
  /** Rounds of the run that were done; null: whoever ended it does not know. */
  rounds: count.nullable(),
});
