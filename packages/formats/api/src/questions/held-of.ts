import type { Question } from '../endpoint.ts';
import { heldCalls } from '../steering.ts';
import { historyParams } from '../values.ts';

export const heldOf = {
  name: 'heldOf',
  method: 'GET',
  path: '/api/histories/{history}/held',
  summary: 'Lists the calls of a history that were ever held, with how they were released.',
  params: historyParams,
  answer: { kind: 'json', status: 200, schema: heldCalls },
  errors: ['E_HISTORY_NOT_FOUND'],
} as const satisfies Question;
