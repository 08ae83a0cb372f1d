import { z } from 'zod';
import { compared } from '../audit.ts';
import type { Question } from '../endpoint.ts';
import { historyParams } from '../values.ts';

export const comparePage = {
  name: 'comparePage',
  method: 'GET',
  path: '/api/histories/{history}/compare.html',
  summary: 'Returns the comparison as a self-contained page without scripts or external files.',
  params: historyParams,
  query: z.strictObject({ a: compared, b: compared }),
  answer: { kind: 'bytes', mime: 'text/html; charset=utf-8', describe: 'HTML' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  heavy: true,
} as const satisfies Question;
