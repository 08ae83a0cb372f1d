import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParams, milliseconds, wholeInQuery } from '../values.ts';

const Observation = z
  .strictObject({
    seq: count,
    actor: z.string(),
    kind: z.enum(['opened', 'searched', 'selected', 'exported']),
    what: z.string(),
    position: z.strictObject({ branch: z.string(), branchId: count, seq: count }),
    times: count,
    first_at: milliseconds,
    last_at: milliseconds,
  })
  .meta({ id: 'Observation' });

export const observations = {
  name: 'observations',
  method: 'GET',
  path: '/api/histories/{history}/observations',
  summary: 'Lists what named actors looked at, oldest first, if the history records it (`observe` is set).',
  params: historyParams,
  query: z.strictObject({
    from: wholeInQuery.optional().describe('the first frame (default: 0)'),
    limit: wholeInQuery.optional().describe('the most to return, at most 1,000 (default: 100)'),
    actor: z.string().max(256).optional(),
  }),
  answer: { kind: 'json', status: 200, schema: z.strictObject({ observations: z.array(Observation) }) },
  errors: ['E_HISTORY_NOT_FOUND'],
} as const satisfies Question;
