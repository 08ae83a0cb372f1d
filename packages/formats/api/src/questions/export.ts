import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { historyParams, reference } from '../values.ts';

export const exportTree = {
  name: 'export',
  method: 'GET',
  path: '/api/histories/{history}/export',
  summary: 'Returns the export of the tree at a position, byte for byte.',
  params: historyParams,
  query: z.strictObject({ at: reference.optional() }),
  answer: { kind: 'bytes', mime: 'application/json', describe: 'canonical JSON' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
  observed: 'exported',
} as const satisfies Question;
