import { z } from 'zod';
import { settings } from '../branches.ts';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { count, historyParam, milliseconds } from '../values.ts';

/** A position that somebody saved. */
const SavedPosition = z
  .strictObject({
    id: z.string().describe('the name'),
    created_at: milliseconds,
    parent_id: z.string().nullable().describe('the saved position before it on its ancestor path'),
    description: z.string(),
    round_number: count.nullable().describe('the newest cycle at the position; null before the first'),
    config: settings,
    metrics: z
      .strictObject({ nodes: count, blocks: count, turns: count })
      .nullable()
      .describe('figures of the newest snapshot at or before the position'),
    position: PositionAnswer,
    branch: z.string(),
    branchId: count,
    actor: z.string().nullable(),
  })
  .meta({ id: 'SavedPosition' });

export const saved = {
  name: 'saved',
  method: 'GET',
  path: '/api/saved',
  summary: 'Lists the saved positions of one history or of all, oldest first.',
  query: z.strictObject({ history: historyParam.optional() }),
  answer: { kind: 'json', status: 200, schema: z.strictObject({ saved: z.array(SavedPosition) }) },
  errors: ['E_HISTORY_NOT_FOUND'],
} as const satisfies Question;
