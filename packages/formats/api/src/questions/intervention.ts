import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { InterventionAnswer } from '../interventions.ts';
import { historyParams } from '../values.ts';

export const intervention = {
  name: 'intervention',
  method: 'GET',
  path: '/api/histories/{history}/interventions/{id}',
  summary: 'Returns one intervention, by its id or its frame (`@s57`).',
  params: historyParams.extend({ id: z.string().min(1).max(800) }),
  answer: { kind: 'json', status: 200, schema: InterventionAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_INTERVENTION_NOT_FOUND'],
} as const satisfies Question;
