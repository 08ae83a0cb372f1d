import { CallAddress, IMPORT_LINK_REASONS } from '@stemma/events';
import { z } from 'zod';
import { defineStep } from './step.ts';

/** Records which call led to the conversation on the branch of the command, as imported files say. */
export const linkImport = defineStep({
  op: 'link_import',
  schema: z.strictObject({
    op: z.literal('link_import'),
    parent: CallAddress,
    why: z.enum(IMPORT_LINK_REASONS),
  }),
  on: 'its branch',
  kind: 'edit',
  alone: true,
  secrets: { parent: 'none', why: 'none' },
  *decide({ branch: { branchId } }, { parent, why }) {
    yield { type: 'ImportLinked', branchId, parent, why };
  },
});
