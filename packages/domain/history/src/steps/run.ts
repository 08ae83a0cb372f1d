import type { HistoryEvent } from '@stemma/events';
import { z } from 'zod';
import { count, object, position } from './fields.ts';
import { retoldIn } from './retold.ts';
import { defineStep, type RecordedPosition } from './step.ts';

type Intervention = Extract<HistoryEvent, { type: 'InterventionRecorded' }>;

/** Records that a number of rounds ran on their own since a position; the intervention records everything. */
export const run = defineStep({
  op: 'run',
  schema: z.strictObject({
    op: z.literal('run'),
    rounds: count,
    total_rounds_after: count,
    since: position.optional(),
    retold: object.optional(),
  }),
  on: 'its branch',
  request: { without: ['retold'] },
  kind: 'run',
  alone: true,
  byActor: true,
  told: (step) => ({
    rounds: step.rounds,
    total_rounds_after: step.total_rounds_after,
    ...(step.since === undefined ? {} : { since: { ...step.since } }),
    ...retoldIn(step),
  }),
  reference: {
    field: 'since',
    recorded: (events) => sinceOf(events('InterventionRecorded')),
  },
  secrets: { retold: { as: 'retold' }, rounds: 'none', total_rounds_after: 'none', since: 'none' },
  decide: () => [],
});

const sinceOf = (intervention: Intervention | undefined): RecordedPosition | undefined =>
  (intervention?.content as { readonly since?: RecordedPosition } | undefined)?.since;
