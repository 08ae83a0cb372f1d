import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { historyParams, reference } from '../values.ts';

export const thread = {
  name: 'thread',
  method: 'GET',
  path: '/api/histories/{history}/thread',
  summary:
    "Returns the provider thread at a position, byte for byte; with `provider`, the message list for that provider's API.",
  params: historyParams,
  query: z.strictObject({ at: reference.optional(), provider: z.enum(['openai']).optional() }),
  answer: { kind: 'bytes', mime: 'application/json', describe: 'canonical JSON; with `provider`, JSON' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
  observed: 'opened',
} as const satisfies Question;
