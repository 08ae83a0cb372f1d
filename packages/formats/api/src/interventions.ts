import { z } from 'zod';
import { anyJson, count } from './values.ts';

/** What an observer can do (pool: Interventions). */
export const interventionTypes = [
  'message_inject',
  'config_change',
  'fork',
  'rollback',
  'run',
  'external_query',
  'edit',
  'save',
  'annotate',
  'rerun',
] as const;

const timestamp = z.string().describe('ISO 8601, UTC, milliseconds');
const position = z.string().describe('a position: @s57');

/** An observer's logged act, in the words of the pool inspector. */
export const InterventionAnswer = z
  .strictObject({
    id: z.string(),
    timestamp,
    actor: z.string(),
    intervention_type: z.enum(interventionTypes),
    content: z.record(z.string(), anyJson),
    snapshot_before: position.nullable(),
    snapshot_after: position,
    notes: z.string(),
    history: z.string(),
    branch: z.string(),
    branchId: count,
    seq: count,
    annotations: z.array(z.strictObject({ seq: count, timestamp, by: z.string(), note: z.string() })),
  })
  .meta({ id: 'Intervention' });
export type InterventionAnswer = z.infer<typeof InterventionAnswer>;
