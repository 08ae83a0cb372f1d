import { z } from 'zod';
import { count } from './values.ts';
export const Health = z.strictObject({ status: z.enum(['ok', 'ready', 'unready']) }).meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

/** A service that can answer, and what its proxy has still to record. */
export const Readiness = z
  .strictObject({
    status: z.literal('ready'),
    recording: z
      .strictObject({
        calls: count.describe('calls, or ends of calls, that are not recorded yet'),
        bytes: count.describe('what they take in the journal, with calls whose end is still to come'),
        seconds: z.number().min(0).describe('how long the oldest of them has been waiting'),
      })
      .optional(),
  })
  .meta({ id: 'Readiness' });

/** Every error: a stable code, what was wrong, what would be right, facts for programs. */
export const ErrorAnswer = z
  .strictObject({
    error: z.strictObject({
      code: z.string(),
      message: z.string(),
      help: z.string(),
      detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    }),
  })
  .meta({ id: 'Error' });
export type ErrorAnswer = z.infer<typeof ErrorAnswer>;
