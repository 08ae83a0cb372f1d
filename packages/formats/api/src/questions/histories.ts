import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { HistorySummaryAnswer } from '../summaries.ts';
import { count, optionalWhole } from '../values.ts';

export const HistoryPage = z
  .strictObject({
    total: count,
    histories: z.array(HistorySummaryAnswer),
    damage: z
      .array(z.string())
      .describe(
        'what is not shown although it was recorded, a sentence for each partition and all histories',
      ),
  })
  .meta({ id: 'HistoryPage' });

export type HistoryPage = z.infer<typeof HistoryPage>;

export const histories = {
  name: 'histories',
  method: 'GET',
  path: '/api/histories',
  summary: 'Lists the histories, the last changed first.',
  query: z.strictObject({
    limit: optionalWhole('the most to return, at most 500 (default: 100)'),
    skip: optionalWhole('the number to skip first (default: 0)'),
    name: z
      .string()
      .min(1)
      .max(600)
      .optional()
      .describe('a text in the name, upper and lower case alike, or the beginning of the id'),
    since: optionalWhole('only those that changed at this time or later, in milliseconds since 1970'),
  }),
  answer: { kind: 'json', status: 200, schema: HistoryPage },
  errors: [],
} as const satisfies Question;
