import { z } from 'zod';
import { author, count, milliseconds } from './values.ts';

/** The recorded fact that made something as it is, with the command that brought it. */
export const OriginAnswer = z
  .strictObject({
    seq: count,
    index: count.describe('the event is the index-th of frame seq'),
    event: z.string(),
    command: z.string(),
    author,
    at: milliseconds,
    branchId: count,
    cycle: count,
  })
  .meta({ id: 'Origin' });
export type OriginAnswer = z.infer<typeof OriginAnswer>;
