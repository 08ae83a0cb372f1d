import { z } from 'zod';
import { filter } from '../audit.ts';
import type { Question } from '../endpoint.ts';
import { historyParams } from '../values.ts';

export const interventionLines = {
  name: 'interventionLines',
  method: 'GET',
  path: '/api/histories/{history}/intervention-lines',
  summary: 'Streams all matching interventions, oldest first, as JSON lines or as CSV.',
  params: historyParams,
  query: filter.extend({
    format: z.enum(['jsonl', 'csv']).optional().describe('the format (default: jsonl)'),
  }),
  answer: { kind: 'bytes', mime: 'application/jsonl', describe: 'JSON lines, or CSV (text/csv)' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  streamed: true,
} as const satisfies Question;
