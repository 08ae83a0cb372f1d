import { z } from 'zod';
import { filter } from '../audit.ts';
import type { Question } from '../endpoint.ts';
import { InterventionAnswer } from '../interventions.ts';
import { count, historyParams, wholeInQuery } from '../values.ts';

const InterventionPageAnswer = z
  .strictObject({
    interventions: z.array(InterventionAnswer),
    next: count.nullable().describe('`from` of the next page; null: this is the last page'),
  })
  .meta({ id: 'InterventionPage' });

export const interventions = {
  name: 'interventions',
  method: 'GET',
  path: '/api/histories/{history}/interventions',
  summary: 'Lists the interventions in a history, a page at a time.',
  params: historyParams,
  query: filter.extend({
    from: wholeInQuery.optional().describe('the first frame of the page: `next` of the previous page'),
    limit: wholeInQuery.optional().describe('the most to return, at most 1,000 (default: 100)'),
    order: z.enum(['oldest', 'newest']).optional().describe('which comes first (default: oldest)'),
  }),
  answer: { kind: 'json', status: 200, schema: InterventionPageAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
