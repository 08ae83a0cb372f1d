import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { historyParams, reference } from '../values.ts';

export const experiment = {
  name: 'experiment',
  method: 'GET',
  path: '/api/histories/{history}/experiment',
  summary: 'Exports a branch up to a position as an experiment: a file that runs again to the same hashes.',
  params: historyParams,
  query: z.strictObject({ at: reference.optional() }),
  answer: { kind: 'bytes', mime: 'application/json', describe: 'the experiment, JSON' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
