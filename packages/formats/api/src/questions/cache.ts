import { z } from 'zod';
import { OriginAnswer } from '../blame.ts';
import { Cause } from '../cache.ts';
import type { Question } from '../endpoint.ts';
import { RequestChangeAnswer } from '../request-change.ts';
import { count, historyParams, wholeInQuery } from '../values.ts';

const measure = z.strictObject({
  before: count,
  after: count,
  shared: count.describe('the length of the common prefix'),
});

const total = z.strictObject({
  sent: count.describe('sent by all calls together'),
  shared: count.describe('of it, what the previous call began with'),
});

const verdict = z
  .enum(['append', 'rewind', 'break'])
  .describe(
    'append: the old thread is a prefix of the new one; rewind: the new one is a prefix of the old; break: neither',
  );

/** What a cache of prefixes could have served of all that the calls of a branch sent. */
const CacheAnswer = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    tokenizer: z.string(),
    calls: count,
    verdicts: z.strictObject({ append: count, rewind: count, break: count }),
    messages: total,
    bytes: total.describe('of the messages, without the brackets of the list and the commas between'),
    tokens: total.describe('of the contents'),
    worst: z.array(count).describe('indexes of the steps that lost most, worst first'),
    from: count.describe('the index of the first step returned'),
    next: count
      .nullable()
      .describe('the index of the first step of the next page; null: this is the last page'),
    steps: z.array(
      z.strictObject({
        from: z.string(),
        to: z.string(),
        verdict,
        messages: measure,
        bytes: measure,
        tokens: measure,
        broken: z
          .strictObject({
            node: z.string(),
            what: z.enum(['removed', 'changed', 'added', 'moved']),
            cause: Cause.nullable(),
            origin: OriginAnswer.nullable(),
            entered: OriginAnswer.nullable().describe('the event that inserted the node'),
          })
          .nullable()
          .describe('the first difference and its cause; null for append, and where tools differ'),
        tools: z
          .array(RequestChangeAnswer)
          .describe('tools that differ: they come before all messages, so nothing is shared'),
        cached: count
          .nullable()
          .describe('tokens that the provider says it read from its cache; null: it does not say'),
      }),
    ),
  })
  .meta({ id: 'CacheReport' });

export const cache = {
  name: 'cache',
  method: 'GET',
  path: '/api/histories/{history}/cache',
  summary: 'Returns how much of each call a prefix cache could have served, and what broke the prefix.',
  params: historyParams,
  query: z.strictObject({
    from: wholeInQuery.optional().describe('the index of the first step (default: 0)'),
    limit: wholeInQuery.optional().describe('the most steps to return, at most 1,000 (default: 1,000)'),
  }),
  answer: { kind: 'json', status: 200, schema: CacheAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
