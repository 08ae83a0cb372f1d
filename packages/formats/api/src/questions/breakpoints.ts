import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { conditions, name } from '../steering.ts';
import { count, historyParams } from '../values.ts';

const BreakpointAnswer = z
  .strictObject({
    name,
    ...conditions,
    timeout_ms: count,
    then: z.enum(['go-on', 'abort']).describe('what becomes of a call that nobody releases in time'),
  })
  .meta({ id: 'Breakpoint' });

export const breakpoints = {
  name: 'breakpoints',
  method: 'GET',
  path: '/api/histories/{history}/breakpoints',
  summary: 'Lists the breakpoints of a branch, and whether it is in mode `steer`.',
  params: historyParams,
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({ steer: z.boolean(), breakpoints: z.array(BreakpointAnswer) }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
} as const satisfies Question;
