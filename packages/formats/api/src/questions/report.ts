import type { Question } from '../endpoint.ts';
import { arms } from '../arms.ts';
import { historyParams } from '../values.ts';

export const report = {
  name: 'report',
  method: 'GET',
  path: '/api/histories/{history}/report.html',
  summary:
    'Returns the report of an experiment with two arms as a self-contained page without scripts or external files: verdict, figures, attractors, map, interventions.',
  params: historyParams,
  query: arms,
  answer: { kind: 'bytes', mime: 'text/html; charset=utf-8', describe: 'HTML' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
