import { z } from 'zod';
import { compared } from '../audit.ts';
import type { Question } from '../endpoint.ts';
import { count, historyParams, optionalWhole } from '../values.ts';

const side = z.strictObject({ history: z.string(), branch: z.string(), calls: count });

/** What a model decided at a call. */
export const DecisionAnswer = z
  .strictObject({
    label: z.string().describe('the call: @c12'),
    branchId: count,
    seq: count,
    cycle: count,
    what: z
      .string()
      .describe('`answer`, or the names of the tools with commas between; empty: nothing is recorded'),
    text: z.string().describe('what it said, at most `excerpt` characters'),
    calls: z.array(
      z.strictObject({
        name: z.string(),
        input: z.string().describe('the arguments as JSON, at most `excerpt` characters'),
        result: z.string().nullable().describe('at most `excerpt` characters; null: none is recorded'),
        failed: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'Decision' });
export type DecisionAnswer = z.infer<typeof DecisionAnswer>;

const pair = z
  .strictObject({
    how: z
      .enum(['same', 'words', 'arguments', 'tool', 'only-a', 'only-b'])
      .describe(
        'words: both answer, or call the same, in other words; arguments: of the same tools; tool: other tools, or an answer on one side',
      ),
    a: DecisionAnswer.nullable(),
    b: DecisionAnswer.nullable(),
  })
  .meta({ id: 'DecisionPair' });
export type DecisionPairAnswer = z.infer<typeof pair>;

export const decisions = {
  name: 'decisions',
  method: 'GET',
  path: '/api/histories/{history}/decisions',
  summary:
    'Compares what the models decided on two branches, of one history or of two, call by call: the same, other arguments, another tool, on one side only.',
  params: historyParams,
  query: z.strictObject({
    a: compared,
    b: compared,
    from: optionalWhole('the index of the first pair (default: 0)'),
    limit: optionalWhole('the most pairs to return, at most 2,000 (default: 500)'),
    excerpt: optionalWhole('characters of each text, at most 20,000 (default: 2,000)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        a: side,
        b: side,
        total: count.describe('all pairs'),
        counts: z
          .strictObject({
            same: count,
            words: count,
            arguments: count,
            tool: count,
            'only-a': count,
            'only-b': count,
          })
          .describe('of all pairs'),
        first: count
          .nullable()
          .describe(
            'the index of the first pair that decides otherwise, not only in other words; null: none does',
          ),
        pairs: z.array(pair),
        next: count.nullable().describe('give it as `from` for the page behind; null: this was the last'),
      })
      .meta({ id: 'Decisions' }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  heavy: true,
} as const satisfies Question;
