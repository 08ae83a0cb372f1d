import { z } from 'zod';
import { requireTip } from '../decide/branches.ts';
import { checkName } from '../history-id.ts';
import { checkLabel } from '../texts.ts';
import { defineStep } from './step.ts';

/** The history gets a label, `task=refund`, by which people find and group it; null takes it away. */
export const label = defineStep({
  op: 'label',
  schema: z.strictObject({ op: z.literal('label'), label: z.string(), value: z.string().nullable() }),
  on: 'its branch',
  request: { without: [] },
  kind: 'annotate',
  along: true,
  afterSnapshot: true,
  secrets: { label: 'name', value: { as: 'label' } },
  *decide(pending, { label: given, value }) {
    requireTip(pending);
    yield {
      type: 'HistoryLabelled',
      label: checkName(given),
      value: value === null ? null : checkLabel(value),
    };
  },
});
