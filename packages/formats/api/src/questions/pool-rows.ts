import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParams, reference } from '../values.ts';

/** A message of a pool as a list of all of them has it. */
const PoolRow = z
  .strictObject({
    id: z.string(),
    round: count.nullable(),
    mind_id: z.int().describe('which of the minds said it; -1: it came from outside'),
    source: z.string(),
    intervention: z.string().nullable(),
    sampled: count.describe('how often rounds showed it'),
    active: z.boolean(),
    characters: count,
    excerpt: z.string().describe('its first 300 characters'),
  })
  .meta({ id: 'PoolRow' });

export const poolRows = {
  name: 'poolRows',
  method: 'GET',
  path: '/api/histories/{history}/pool/rows',
  summary: 'Lists all messages of a pool at a position, the oldest first, each by its beginning.',
  params: historyParams,
  query: z.strictObject({ at: reference.optional() }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({
      history: z.string(),
      branch_id: count,
      position: z.string(),
      round: count,
      rows: z.array(PoolRow),
    }),
  },
  errors: [
    ...(['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'] as const),
  ],
  heavy: true,
} as const satisfies Question;
