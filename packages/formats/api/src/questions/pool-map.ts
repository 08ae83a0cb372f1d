import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParams, reference, wholeInQuery } from '../values.ts';

export const poolMap = {
  name: 'poolMap',
  method: 'GET',
  path: '/api/histories/{history}/pool/map',
  summary:
    'Gives each message of a pool that has a vector two coordinates, the same for the same messages and seed.',
  params: historyParams,
  query: z.strictObject({
    at: reference.optional(),
    seed: wholeInQuery.optional().describe('the seed of the random numbers (default: 0)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({
      position: z.string(),
      seed: count,
      method: z
        .enum(['umap', 'components'])
        .describe(
          'umap: who is near is near on the map; components: the two directions in which the vectors spread most, of more texts than UMAP is computed for',
        ),
      texts: count.describe('the different texts; messages of one text lie on one point'),
      ids: z.array(z.string()),
      x: z.array(z.number()),
      y: z.array(z.number()),
    }),
  },
  errors: [
    ...(['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'] as const),
  ],
  heavy: true,
} as const satisfies Question;
