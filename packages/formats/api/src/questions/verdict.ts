import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { arms } from '../arms.ts';
import { count, historyParams } from '../values.ts';

const difference = z.strictObject({
  name: z.string(),
  effect: z.number().nullable(),
  interval: z.array(z.number()).nullable().describe('from and to, of 95 %'),
  p: z.number().nullable(),
});

const part = z.strictObject({
  p: z.number().nullable(),
  different: z.boolean(),
  size: z.number().describe('the size of difference that is asked for'),
  power: z.number().describe('the chance to see a difference of that size'),
  needed: count.nullable(),
  differences: z.array(difference),
});

const arm = z.strictObject({ runs: count, steps: count, units: count });

export const verdict = {
  name: 'verdict',
  method: 'GET',
  path: '/api/histories/{history}/verdict',
  summary: 'Says whether two arms of branches decide differently, or only tell it differently.',
  params: historyParams,
  query: arms,
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        of: z.enum(['pool', 'agent']),
        verdict: z.enum(['decisions differ', 'only the telling differs', 'both', 'neither', 'cannot tell']),
        judged: z.boolean().describe('false: the arms have too few runs'),
        units: z.enum(['runs', 'steps']),
        a: arm,
        b: arm,
        alpha: z.number(),
        permutations: count,
        seed: count,
        decisions: part,
        telling: part,
      })
      .meta({ id: 'VerdictAnswer' }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
