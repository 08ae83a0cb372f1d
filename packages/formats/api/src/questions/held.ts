import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { heldCalls } from '../steering.ts';
import { historyParam } from '../values.ts';

export const held = {
  name: 'held',
  method: 'GET',
  path: '/api/held',
  summary: 'Lists the calls of one history or of all that wait before they go out, the first one first.',
  query: z.strictObject({ history: historyParam.optional() }),
  answer: { kind: 'json', status: 200, schema: heldCalls },
  errors: ['E_HISTORY_NOT_FOUND'],
} as const satisfies Question;
