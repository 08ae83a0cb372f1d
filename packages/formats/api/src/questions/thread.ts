import { providerNames } from '@stemma/model-apis';
import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { historyParams, reference } from '../values.ts';

export const thread = {
  name: 'thread',
  method: 'GET',
  path: '/api/histories/{history}/thread',
  summary:
    "Returns the provider thread at a position, byte for byte; with `provider`, the messages as that provider's API takes them: of `openai` a list, else the fields of a request that hold them.",
  params: historyParams,
  query: z.strictObject({ at: reference.optional(), provider: z.enum(providerNames()).optional() }),
  answer: { kind: 'bytes', mime: 'application/json', describe: 'canonical JSON; with `provider`, JSON' },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
  observed: 'opened',
} as const satisfies Question;
