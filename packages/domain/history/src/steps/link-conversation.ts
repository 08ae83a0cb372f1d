import { CallAddress } from '@stemma/events';
import { z } from 'zod';
import { defineStep } from './step.ts';

/** Says which call led to the conversation on the branch of the command. */
export const linkConversation = defineStep({
  op: 'link',
  schema: z.strictObject({ op: z.literal('link'), parent: CallAddress.nullable() }),
  on: 'its branch',
  kind: 'edit',
  alone: true,
  byActor: true,
  secrets: { parent: 'none' },
  *decide({ branch: { branchId } }, { parent }) {
    yield { type: 'ConversationLinked', branchId, parent };
  },
});
