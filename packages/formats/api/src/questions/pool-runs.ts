import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { RequestedRunAnswer } from '../pools.ts';
import { historyParam } from '../values.ts';

export const poolRuns = {
  name: 'poolRuns',
  method: 'GET',
  path: '/api/runs',
  summary: 'Lists the runs of pools that were asked for, in that order, and how far they are.',
  query: z.strictObject({
    history: historyParam.optional(),
    open: z.enum(['true', 'false']).optional().describe('true: only those that are not over'),
  }),
  answer: { kind: 'json', status: 200, schema: z.strictObject({ runs: z.array(RequestedRunAnswer) }) },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
} as const satisfies Question;
