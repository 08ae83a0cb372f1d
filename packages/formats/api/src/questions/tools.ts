import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, historyParam, optionalWhole } from '../values.ts';

const place = z.strictObject({ history: z.string(), branchId: count, seq: count, label: z.string() });

const ends = z.strictObject({ calls: count, first: place, last: place });

const ToolChange = z
  .strictObject({
    at: place.describe('the call that was the first to offer it so'),
    path: z
      .string()
      .describe(
        'what of the definition: description, parameters.properties.city.type, …; names are as they stand',
      ),
    before: z
      .string()
      .nullable()
      .describe('its text, or its JSON, at most 500 characters; null: it was not there'),
    after: z.string().nullable(),
  })
  .meta({ id: 'ToolChange' });

const ToolUse = z
  .strictObject({
    name: z.string(),
    calls: count.describe(
      'how often models called it; an answer and the message that repeats it are one call',
    ),
    answered: count.describe('those of them whose result is there'),
    failed: count.describe('those whose result says of itself that it failed or was not finished'),
    duration_ms: z
      .number()
      .nullable()
      .describe('the `duration_ms` of all results that were recorded with one; null: none was'),
    timed: count.describe('results that were recorded with a `duration_ms`'),
    offered: ends.nullable().describe('the recorded requests that offered it; null: none did'),
    called: z
      .strictObject({ first: place, last: place })
      .nullable()
      .describe('the frames that recorded the first and the last call; null: it was never called'),
    changes: z
      .array(ToolChange)
      .describe(
        'where its definition changed, also from one history to the next that offered it; at most the newest 100',
      ),
    changed: count.describe('all such changes'),
  })
  .meta({ id: 'ToolUse' });

export const tools = {
  name: 'tools',
  method: 'GET',
  path: '/api/tools',
  summary:
    'Lists the tools that models were offered and called on a branch or in all histories, by name: calls, failures, time, first and last position, and where definitions changed.',
  query: z.strictObject({
    history: historyParam
      .optional()
      .describe('a history or branch, by id or name (default: `main` of each history)'),
    from: optionalWhole('the index of the first tool (default: 0)'),
    limit: optionalWhole('the most tools to return, at most 1,000 (default: 100)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z
      .strictObject({
        history: z.string().nullable().describe('null: all histories were asked for'),
        branch: z.string().nullable(),
        branchId: count.nullable(),
        total: count.describe('all tools'),
        tools: z.array(ToolUse).describe('by name'),
        next: count.nullable().describe('give it as `from` for the page behind; null: this was the last'),
      })
      .meta({ id: 'ToolsPage' }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
