import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { interventionTypes } from '../interventions.ts';
import { count, historyParams, milliseconds, optionalWhole } from '../values.ts';

const change = z.strictObject({ messages: count, tokens: count }).nullable();

/** A call of a history, in numbers and names. */
export const FilmCellAnswer = z
  .strictObject({
    branchId: count,
    seq: count,
    cycle: count,
    at: milliseconds.describe('when its snapshot was recorded'),
    messages: count,
    tokens: count.describe('of the contents of the messages that it was shown'),
    roles: z
      .strictObject({ system: count, user: count, assistant: count, tool: count, other: count })
      .describe('tokens by who says them'),
    came: change.describe(
      'messages that the call before was not shown; null: the thread is not full (context-tree §4)',
    ),
    left: change.describe('messages that only the call before was shown'),
    compacted: z
      .boolean()
      .describe('the agent removed two messages or more, or the policy some while a summary came'),
    decided: z
      .strictObject({
        said: count.describe('texts of the model'),
        tools: z.array(
          z.strictObject({
            name: z.string().describe('empty: a result came whose call is not known'),
            state: z.enum(['called', 'answered', 'failed']).describe('called: no result is recorded'),
          }),
        ),
      })
      .nullable()
      .describe('what the model answered, by the messages that follow or the recorded answer; null: unknown'),
    call: z
      .strictObject({
        attempts: count,
        status: z.enum(['answered', 'failed', 'cancelled', 'timed out', 'unknown']).nullable(),
      })
      .nullable()
      .describe('its newest attempt; null: no call is recorded with it'),
    interventions: z
      .array(z.strictObject({ id: z.string(), type: z.enum(interventionTypes), actor: z.string() }))
      .describe('what people did that no earlier call of the branch was shown; not what they saved or noted'),
  })
  .meta({ id: 'FilmCell' });

export type FilmCellAnswer = z.infer<typeof FilmCellAnswer>;

export const filmstrip = {
  name: 'filmstrip',
  method: 'GET',
  path: '/api/histories/{history}/filmstrip',
  summary:
    'Lists every call of a history, branch after branch and on each the oldest first: what it was shown by role, what came and left, what it decided, which tools failed, and who intervened.',
  params: historyParams,
  query: z.strictObject({
    branch: optionalWhole('with `after`: the branch of the call that all come after'),
    after: optionalWhole('its cycle (default: from the first call)'),
    limit: optionalWhole('the most calls to return, at most 5,000 (default: 1,000)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        history: z.string(),
        cells: z.array(FilmCellAnswer),
        next: z
          .strictObject({ branch: count, after: count })
          .nullable()
          .describe('give both for the page behind; null: this was the last'),
      })
      .meta({ id: 'Filmstrip' }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
