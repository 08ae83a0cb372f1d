import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { historyParams, reference, wholeInQuery } from '../values.ts';

export const poolNear = {
  name: 'poolNear',
  method: 'GET',
  path: '/api/histories/{history}/pool/near',
  summary: 'Lists the messages of a pool nearest to one of them or to a text, the nearest first.',
  params: historyParams,
  query: z.strictObject({
    at: reference.optional(),
    message: z.string().min(1).max(2048).optional().describe('the id of a message'),
    text: z.string().min(1).max(100_000).optional().describe('or a text'),
    limit: wholeInQuery.optional().describe('the most to return (default: 20)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({
      position: z.string(),
      near: z.array(
        z.strictObject({
          id: z.string(),
          similarity: z.number().describe('the cosine of both vectors, from -1 to 1'),
        }),
      ),
    }),
  },
  errors: [
    ...(['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'] as const),
    'E_NODE_NOT_FOUND',
    'E_MIND_NOT_ALLOWED',
    'E_EMBEDDER_INVALID',
  ],
  heavy: true,
} as const satisfies Question;
