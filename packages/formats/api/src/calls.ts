import { z } from 'zod';
import { anyJson, count, sha256 } from './values.ts';

/** The prompt of one call, without what the call before was shown already. */
const CallPromptAnswer = z
  .strictObject({
    label: z.string().describe('the reference of its snapshot'),
    cycle: count,
    seq: count,
    threadHash: sha256,
    calls: count
      .nullable()
      .describe(
        'the attempts to call a model with it; 0: no call stands behind it; null: no call of the history is recorded',
      ),
    messages: count.describe('of the whole prompt'),
    shared: count.describe('messages at its beginning that are those of the call before, byte for byte'),
    following: z
      .array(anyJson)
      .describe('the messages after the shared ones, as the provider thread has them'),
  })
  .meta({ id: 'CallPrompt' });

/** A page of calls, oldest first. `next`: give it as `after` for the page behind; null: this was the last. */
export const CallsPage = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    calls: z.array(CallPromptAnswer),
    next: count.nullable(),
  })
  .meta({ id: 'CallsPage' });
