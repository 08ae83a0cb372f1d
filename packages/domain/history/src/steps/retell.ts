import { INTERVENTIONS } from '@stemma/events';
import { z } from 'zod';
import { object, position } from './fields.ts';
import { retoldIn } from './retold.ts';
import { defineStep } from './step.ts';

/**
 * Records what another record says of an intervention, which changes nothing here. The positions around it are `since` and `until`, by
 * default the tip.
 */
export const retell = defineStep({
  op: 'retell',
  schema: z.strictObject({
    op: z.literal('retell'),
    type: z.enum(INTERVENTIONS),
    retold: object,
    since: position.optional(),
    until: position.optional(),
  }),
  on: 'its branch',
  kind: ({ type }) => type,
  alone: true,
  byActor: true,
  told: (step) => ({
    ...retoldIn(step),
    ...(step.since === undefined ? {} : { since: { ...step.since } }),
    ...(step.until === undefined ? {} : { until: { ...step.until } }),
  }),
  // No event names the position by itself: who repeats the command gives the same reference.
  reference: { field: 'since', recorded: () => undefined },
  secrets: { retold: { as: 'retold' }, type: 'none', since: 'none', until: 'none' },
  decide: () => [],
});
