import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, milliseconds, wholeInQuery } from '../values.ts';

const kind = z.enum(['content', 'name', 'note', 'intervention', 'call', 'error']);

const SearchHit = z
  .strictObject({
    history: z.string(),
    name: z.string().nullable().describe('the name of the history'),
    branch: z.string(),
    branchId: count,
    seq: count,
    index: count,
    kind: kind.describe(
      'content of a node; name of a history, branch or position; note; intervention; call (model, tools, answer); error',
    ),
    node: z.string().nullable(),
    role: z.string().nullable(),
    at: milliseconds,
    label: z.string().describe('the position from which on it stands there'),
    call: z.string().nullable().describe('the first call that could show it; null: there is none yet'),
    abandoned: z.boolean().describe('true: a rollback of its branch left it behind'),
    excerpt: z.strictObject({
      text: z.string().describe('one line of it'),
      marks: z
        .array(z.tuple([count, count]))
        .describe('where the words stand in it: [from, to), in UTF-16 units'),
    }),
  })
  .meta({ id: 'SearchHit' });

export const search = {
  name: 'search',
  method: 'GET',
  path: '/api/search',
  summary:
    'Finds texts: contents of nodes at any time, names, notes, interventions, models, tools, answers and errors.',
  query: z.strictObject({
    q: z
      .string()
      .min(1)
      .max(1_000)
      .describe('words, "a phrase", begin* of a word, -not; filters as of overview: tool:refund since:7d'),
    history: z
      .string()
      .min(1)
      .max(600)
      .optional()
      .describe('only this history; of a branch, what leads to it'),
    kind: kind.optional(),
    role: z.string().min(1).max(100).optional(),
    since: wholeInQuery
      .optional()
      .describe('only what was recorded at this time or later, milliseconds since 1970'),
    until: wholeInQuery.optional().describe('only what was recorded at this time or before'),
    skip: wholeInQuery.optional().describe('the number to skip first, at most 10,000 (default: 0)'),
    limit: wholeInQuery.optional().describe('the most to return, at most 100 (default: 20)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        hits: z.array(SearchHit),
        total: count.describe('all that match, counted up to 20,000'),
        more: z.boolean().describe('more than total match'),
        ranked: z
          .boolean()
          .describe(
            'false: so many match, or have all of the words, that the newest come first, not the best',
          ),
      })
      .meta({ id: 'SearchAnswer' }),
  },
  errors: ['E_SEARCH_INVALID', 'E_SEARCH_BUSY', 'E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
