import { z } from 'zod';
import { OriginAnswer } from '../blame.ts';
import { Cause } from '../cache.ts';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { count, historyParams, reference } from '../values.ts';

/** The first bad snapshot on the way from a good one to a bad one, what differs at it, and why. */
const Bisection = z
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

export const bisect = {
  name: 'bisect',
  method: 'GET',
  path: '/api/histories/{history}/bisect',
  summary: 'Finds the first snapshot between a good and a bad one where a selector matches, with the causes.',
  params: historyParams,
  query: z.strictObject({
    good: reference.describe('a snapshot where the selector does not match'),
    bad: reference.describe('a snapshot where it matches; may be older, or of another branch'),
    when: z.string().min(1).max(10_000).describe('a selector without a position'),
    holds: z
      .enum(['match', 'none'])
      .optional()
      .describe(
        'bad snapshots: match: the selector matches something; none: it matches nothing (default: match)',
      ),
  }),
  answer: { kind: 'json', status: 200, schema: Bisection },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID', 'E_BISECT_ENDS'],
  heavy: true,
} as const satisfies Question;
