import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { LoggedEventAnswer } from '../logged.ts';
import { count, historyParams, optionalWhole } from '../values.ts';

/** Events of a history, oldest first. `next`: the frame to go on from; null: there are no more. */
const EventPage = z
  .strictObject({ history: z.string(), events: z.array(LoggedEventAnswer), next: count.nullable() })
  .meta({ id: 'EventPage' });

export const events = {
  name: 'events',
  method: 'GET',
  path: '/api/histories/{history}/events',
  summary: 'Lists the accepted events of a history, oldest first, in whole frames.',
  params: historyParams,
  query: z.strictObject({
    from: optionalWhole('the first frame (default: 0)'),
    limit: optionalWhole('the events to return, rounded up to a whole frame; at most 1,000 (default: 100)'),
    node: z
      .string()
      .min(1)
      .max(2048)
      .optional()
      .describe('the node whose events are listed, in all branches (default: all nodes)'),
  }),
  answer: { kind: 'json', status: 200, schema: EventPage },
  errors: ['E_HISTORY_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
