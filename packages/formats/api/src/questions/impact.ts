import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParams } from '../values.ts';

const cycleSpans = z.array(z.strictObject({ branchId: count, first: count, last: count, count }));

const reason = z.union([
  z.strictObject({ kind: z.literal('brought') }),
  z.strictObject({
    kind: z.literal('answer'),
    call: z.strictObject({ branchId: count, cycle: count }),
    through: z.string(),
  }),
  z.strictObject({ kind: z.literal('refs'), to: z.string() }),
]);

/**
 * What an intervention led to. The path of a call: its block `through`, then that block's reason, and so on to one that was brought;
 * depths fall by one a step.
 */
export const ImpactAnswer = z
  .strictObject({
    basis: z
      .enum(['made', 'commits'])
      .describe('what counts as a call: attempts that are recorded, or, where none is, each commit'),
    brought: z.array(z.strictObject({ id: z.string(), calls: cycleSpans, still: z.boolean() })),
    calls: z.array(
      z.strictObject({
        branchId: count,
        cycle: count,
        seq: count,
        direct: count.describe('blocks of its prompt that the intervention added'),
        derived: count.describe('blocks derived from those'),
        depth: count,
        through: z.string(),
      }),
    ),
    counts: z.strictObject({ calls: count, direct: count, derived: count }),
    blocks: z.array(z.strictObject({ id: z.string(), seq: count, branchId: count, depth: count, reason })),
    lost: z.array(
      z.strictObject({ id: z.string(), what: z.enum(['removed', 'replaced']), calls: cycleSpans }),
    ),
    branches: z.array(
      z.strictObject({
        branchId: count,
        calls: count,
        direct: count,
        derived: count,
        lastDirect: count.nullable(),
        lastDerived: count.nullable(),
      }),
    ),
  })
  .meta({ id: 'Impact' });

export type ImpactAnswer = z.infer<typeof ImpactAnswer>;

export const impact = {
  name: 'impact',
  method: 'GET',
  path: '/api/histories/{history}/interventions/{id}/impact',
  summary:
    'Returns the impact of an intervention: the calls that were shown what it added, or what was derived from it.',
  params: historyParams.extend({ id: z.string().min(1).max(800) }),
  answer: { kind: 'json', status: 200, schema: ImpactAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_INTERVENTION_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
