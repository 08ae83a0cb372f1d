import { z } from 'zod';
import { settings } from '../branches.ts';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { historyParams, reference } from '../values.ts';

export const config = {
  name: 'config',
  method: 'GET',
  path: '/api/histories/{history}/config',
  summary: 'Returns the configuration in force at a position.',
  params: historyParams,
  query: z.strictObject({ at: reference.optional() }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({ position: PositionAnswer, config: settings }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
} as const satisfies Question;
