import type { Question } from '../endpoint.ts';
import { HistorySummaryAnswer } from '../summaries.ts';
import { historyParams } from '../values.ts';

export const history = {
  name: 'history',
  method: 'GET',
  path: '/api/histories/{history}',
  summary: 'Returns one history with its branches.',
  params: historyParams,
  answer: { kind: 'json', status: 200, schema: HistorySummaryAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND'],
} as const satisfies Question;
