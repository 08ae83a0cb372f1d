import { z } from 'zod';
import { CtreeNode, session } from '../ctrees.ts';
import type { Question } from '../endpoint.ts';
import { count, reference, wholeInQuery } from '../values.ts';

const CtreeEvents = z
  .strictObject({ events: z.array(CtreeNode), offset: count, limit: count, total: count })
  .meta({ id: 'CtreeEvents' });

type CtreeEvents = z.infer<typeof CtreeEvents>;

export const ctreesEvents = {
  name: 'ctreesEvents',
  method: 'GET',
  path: '/sessions/{session}/ctrees/events',
  summary: 'Lists the node stream of a branch as hashes, oldest first, a page at a time.',
  params: session,
  query: z.strictObject({
    at: reference.optional(),
    offset: wholeInQuery.optional().describe('the number to skip first (default: 0)'),
    limit: wholeInQuery.optional().describe('the most to return, at most 1,000 (default: 100)'),
  }),
  answer: { kind: 'json', status: 200, schema: CtreeEvents },
  errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
