import { z } from 'zod';
import { OriginAnswer } from './blame.ts';
import { count } from './values.ts';

const measure = z.strictObject({
  before: count,
  after: count,
  shared: count.describe('the length of the common prefix'),
});
const total = z.strictObject({
  sent: count.describe('sent by all calls together'),
  shared: count.describe('of it, what the previous call began with'),
});

/** Why something about a node is as it is (docs/questions.md). */
export const Cause = z
  .looseObject({
    kind: z.enum(['mutation', 'import', 'expiry', 'cascade', 'pruning', 'ageing', 'sealing', 'hold']),
  })
  .meta({ id: 'CacheCause' });

const verdict = z
  .enum(['append', 'rewind', 'break'])
  .describe(
    'append: the old thread is a prefix of the new one; rewind: the new one is a prefix of the old; break: neither',
  );

/** What a cache of prefixes could have served of all that the calls of a branch sent. */
export const CacheAnswer = z
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
          .describe('the first difference and its cause; null for append'),
      }),
    ),
  })
  .meta({ id: 'CacheReport' });
export type CacheAnswer = z.infer<typeof CacheAnswer>;
