import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParams, milliseconds, wholeInQuery } from '../values.ts';

const PromptSizeAnswer = z
  .strictObject({
    cycle: count,
    branchId: count,
    seq: count,
    at: milliseconds.describe('when its snapshot was recorded'),
    messages: count,
    tokens: count.describe('of the contents of its messages'),
    regions: z
      .strictObject({ sys: count, earlier: count, turn: count, head: count })
      .describe('tokens under ^sys, in turns but the newest, in the newest turn, in the active head'),
    roles: z
      .strictObject({ system: count, user: count, assistant: count, tool: count, other: count })
      .describe('tokens by who says them'),
    entered: count.describe('messages that the call before was not shown, by their ids'),
    removed: count.describe('messages that only the call before was shown'),
  })
  .meta({ id: 'PromptSize' });

export type PromptSizeAnswer = z.infer<typeof PromptSizeAnswer>;

/** What the calls of a branch were shown, in numbers. */
export const SizesAnswer = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    tokenizer: z.string(),
    sizes: z.array(PromptSizeAnswer),
    next: count.nullable().describe('give it as `after` for the page behind; null: this was the last'),
  })
  .meta({ id: 'PromptSizes' });

export type SizesAnswer = z.infer<typeof SizesAnswer>;

export const sizes = {
  name: 'sizes',
  method: 'GET',
  path: '/api/histories/{history}/sizes',
  summary:
    'Lists what each call of a branch was shown in numbers, oldest first: messages, tokens by region and role, what entered and what was removed.',
  params: historyParams,
  query: z.strictObject({
    after: wholeInQuery.optional().describe('the cycle that all come after (default: from the first)'),
    limit: wholeInQuery.optional().describe('the most calls to return, at most 20,000 (default: 1,000)'),
  }),
  answer: { kind: 'json', status: 200, schema: SizesAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
