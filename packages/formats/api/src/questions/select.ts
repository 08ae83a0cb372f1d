import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { historyParams, optionalWhole } from '../values.ts';

/** Ids in document order (context-tree §6). */
const Selection = z
  .strictObject({ position: PositionAnswer, ids: z.array(z.string()) })
  .meta({ id: 'Selection' });

export const select = {
  name: 'select',
  method: 'GET',
  path: '/api/histories/{history}/select',
  summary:
    'Lists the ids that a selector matches, in document order. The selector may begin with a reference.',
  params: historyParams,
  query: z.strictObject({
    selector: z.string().min(1).max(10_000),
    limit: optionalWhole('the most ids to return (default: all)'),
    skip: optionalWhole('the number to skip first (default: 0)'),
  }),
  answer: { kind: 'json', status: 200, schema: Selection },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SELECTOR_INVALID', 'E_SNAPSHOT_NOT_FOUND'],
  heavy: true,
  observed: 'selected',
} as const satisfies Question;
