import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { anyJson, count, historyParams, sha256, wholeInQuery } from '../values.ts';

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
const CallsPage = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    calls: z.array(CallPromptAnswer),
    next: count.nullable(),
  })
  .meta({ id: 'CallsPage' });

export const calls = {
  name: 'calls',
  method: 'GET',
  path: '/api/histories/{history}/calls',
  summary:
    'Lists the calls of a branch, oldest first: how many messages each shares with the one before, and the messages that follow.',
  params: historyParams,
  query: z.strictObject({
    after: wholeInQuery.optional().describe('the cycle that all come after (default: from the first)'),
    limit: wholeInQuery
      .optional()
      .describe('the most calls to return, at most 1,000; fewer if they are large (default: 100)'),
  }),
  answer: { kind: 'json', status: 200, schema: CallsPage },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
