import { z } from 'zod';
import { WholeAttempt, WholeProviderCall, one } from '../attempts.ts';
import type { Question } from '../endpoint.ts';

export const attempt = {
  name: 'attempt',
  method: 'GET',
  path: '/api/histories/{history}/attempts/{attempt}',
  summary: 'Returns an attempt with its parameters, tools and answer, or a call without messages.',
  params: one,
  answer: { kind: 'json', status: 200, schema: z.union([WholeAttempt, WholeProviderCall]) },
  errors: ['E_HISTORY_NOT_FOUND', 'E_CALL_NOT_FOUND'],
} as const satisfies Question;
