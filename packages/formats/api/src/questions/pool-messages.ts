import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParams, reference, wholeInQuery } from '../values.ts';

const PoolMessageAnswer = z
  .strictObject({
    id: z.string(),
    vector_id: count.nullable(),
    round: count.nullable(),
    mind_id: z.number().describe('which of the minds said it; -1: it came from outside'),
    source: z.string(),
    intervention: z.string().nullable(),
    sampled: count.describe('how often rounds showed it'),
    active: z.boolean(),
    similarity: z.number().optional().describe('cosine of its vector and that of the text, with `like`'),
    text: z.string(),
  })
  .meta({ id: 'PoolMessageAnswer' });

const filters = {
  from: wholeInQuery.optional().describe('messages of this round or a later one'),
  to: wholeInQuery.optional().describe('messages of this round or an earlier one'),
  active: z.enum(['true', 'false']).optional().describe('true: only those that a round may still show'),
};

export const poolMessages = {
  name: 'poolMessages',
  method: 'GET',
  path: '/api/histories/{history}/pool/messages',
  summary:
    'Lists the messages of a pool at a position, the oldest first: all, those that have all the words, or the nearest to a text.',
  params: historyParams,
  query: z.strictObject({
    at: reference.optional(),
    ...filters,
    words: z.string().min(1).max(10_000).optional().describe('words that they have, in upper or lower case'),
    like: z.string().min(1).max(100_000).optional().describe('a text; the messages nearest to it come first'),
    skip: wholeInQuery.optional().describe('the number to skip first (default: 0)'),
    limit: wholeInQuery
      .optional()
      .describe('the most to return, at most 1,000 (default: 100; with `like` 10)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({ position: z.string(), total: count, messages: z.array(PoolMessageAnswer) }),
  },
  errors: [
    ...(['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'] as const),
    'E_MIND_NOT_ALLOWED',
    'E_EMBEDDER_INVALID',
  ],
} as const satisfies Question;
