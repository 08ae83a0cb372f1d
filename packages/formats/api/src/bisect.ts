import { z } from 'zod';
import { OriginAnswer } from './blame.ts';
import { Cause } from './cache.ts';
import { PositionAnswer } from './summaries.ts';
import { count } from './values.ts';

/** The first bad snapshot on the way from a good one to a bad one, what differs at it, and why. */
export const Bisection = z
  .strictObject({
    first: PositionAnswer,
    before: PositionAnswer.describe('the snapshot before it on the path'),
    way: z
      .enum(['on', 'back'])
      .describe('back: the path goes back in time, and first is the older of the two'),
    matched: z.array(z.string()).describe('what the selector matches at first; at most a hundred ids'),
    matchedBefore: z.array(z.string()),
    changes: z
      .array(
        z.strictObject({
          id: z.string(),
          change: z.enum(['added', 'removed', 'changed']),
          fields: z.array(z.string()),
          causes: z.array(z.strictObject({ cause: Cause, undone: z.boolean(), origin: OriginAnswer })),
        }),
      )
      .describe('from the older of the two to the newer one'),
    snapshots: count.describe('snapshots on the path, both ends included'),
    loads: count.describe('snapshots that were read'),
  })
  .meta({ id: 'Bisection' });
export type Bisection = z.infer<typeof Bisection>;
