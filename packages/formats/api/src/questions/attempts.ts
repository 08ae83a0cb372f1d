import { z } from 'zod';
import { AttemptAnswer, ProviderCallAnswer } from '../attempts.ts';
import type { Question } from '../endpoint.ts';
import { count, wholeInQuery, historyParams } from '../values.ts';

const AttemptPage = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    attempts: z.array(z.union([AttemptAnswer, ProviderCallAnswer])),
    next: count.nullable().describe('the `from` of the next page; null: there is none'),
  })
  .meta({ id: 'AttemptPage' });

export const attempts = {
  name: 'attempts',
  method: 'GET',
  path: '/api/histories/{history}/attempts',
  summary:
    'Lists the attempts to call a model on a branch, in the order they were recorded, and among them, by the time at which each went out, the calls without messages that lie there (`api: "other"`, no label).',
  params: historyParams,
  query: z.strictObject({
    from: wholeInQuery.optional().describe('the frame of the first (default: 0)'),
    limit: wholeInQuery.optional().describe('the most to return, at most 1,000 (default: 100)'),
  }),
  answer: { kind: 'json', status: 200, schema: AttemptPage },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
} as const satisfies Question;
