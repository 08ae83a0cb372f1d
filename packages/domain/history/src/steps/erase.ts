import { z } from 'zod';
import { defineStep } from './step.ts';

/** Destroys the key of an erasable history. */
export const erase = defineStep({
  op: 'erase',
  schema: z.strictObject({ op: z.literal('erase') }),
  on: 'its branch',
  request: { without: [] },
  kind: 'edit',
  alone: true,
  byActor: true,
  secrets: {},
  decide: () => [{ type: 'HistoryErased' }],
});
