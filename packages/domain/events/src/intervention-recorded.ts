import { z } from 'zod';
import { payloadValue } from './node-shape.ts';

/** What an observer can do (pool: Interventions). */
export const INTERVENTIONS = [
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
export type InterventionType = (typeof INTERVENTIONS)[number];

/**
 * An observer intervened, with the reason (pool: Interventions). It is the first event of every frame whose author is
 * an actor, and of no other; its id is the frame's command. `content` holds only what no other event of the frame
 * records.
 */
export const InterventionRecorded = z.strictObject({
  type: z.literal('InterventionRecorded'),
  intervention: z.enum(INTERVENTIONS),
  /** May be empty. */
  notes: z.string(),
  content: z.record(z.string(), payloadValue),
});
