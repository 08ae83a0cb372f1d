import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { object } from '../pools.ts';
import { count, historyParams, reference } from '../values.ts';

const poolFields = {
  history: z.string(),
  branch: z.string(),
  branchId: count,
  position: z.string(),
  round: count,
  messages: count,
  active: count.describe('the messages that a round may still show'),
  injected: count.describe('the messages that observers added'),
  never_shown: count.describe('the active messages that no round showed'),
  settings: object,
};

/** How far a pool is. */
const PoolAnswer = z.strictObject(poolFields).meta({ id: 'PoolAnswer' });

export const pool = {
  name: 'pool',
  method: 'GET',
  path: '/api/histories/{history}/pool',
  summary: 'Says how far a pool is at a position, and with which settings it runs.',
  params: historyParams,
  query: z.strictObject({ at: reference.optional() }),
  answer: { kind: 'json', status: 200, schema: PoolAnswer },
  errors: [
    ...(['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'] as const),
  ],
} as const satisfies Question;
