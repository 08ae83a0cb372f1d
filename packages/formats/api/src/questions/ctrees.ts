import { z } from 'zod';
import { Ctrees, session, settings } from '../ctrees.ts';
import type { Question } from '../endpoint.ts';

export const ctrees = {
  name: 'ctrees',
  method: 'GET',
  path: '/sessions/{session}/ctrees',
  summary:
    'Returns the compiler stages of a branch at a position: snapshot, last node, compiler, collapse policy, hashes.',
  params: session,
  query: z.strictObject(settings),
  answer: { kind: 'json', status: 200, schema: Ctrees },
  errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
