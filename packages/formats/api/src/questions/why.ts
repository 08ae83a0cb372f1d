import { z } from 'zod';
import { TimelineEntry } from '../causes.ts';
import type { Question } from '../endpoint.ts';
import { RequestChangeAnswer } from '../request-change.ts';
import { PositionAnswer } from '../summaries.ts';
import { count, historyParams, reference } from '../values.ts';

const NodeTimelineEntry = TimelineEntry.extend({
  explains: z.union([z.enum(['added', 'removed']), z.array(z.string())]),
  parent: z.string().nullable().optional(),
  ttl: count.nullable().optional(),
  priority: z.number().optional(),
  redacted: z
    .array(z.strictObject({ rule: z.string(), field: z.string(), count }))
    .optional()
    .describe('what was taken out before it was recorded: by which rule, of which attribute, how often'),
});

const changes = z.array(RequestChangeAnswer).nullable();

/** The life of a node as seen from a position: how it came, what happened to it, how it went. */
export const WhyAnswer = z
  .strictObject({
    node: z.string(),
    position: PositionAnswer,
    present: z.boolean(),
    snapshots: z.strictObject({ first: count, last: count }).nullable(),
    added: NodeTimelineEntry,
    changes: z.array(NodeTimelineEntry),
    removed: NodeTimelineEntry.nullable(),
    request: z
      .strictObject({ first: changes, gone: changes })
      .describe(
        'tools and parameters that differ between the first call that showed the node (`first`), or showed it no more (`gone`), and the call before; null: there are not both',
      ),
  })
  .meta({ id: 'Why' });

export type WhyAnswer = z.infer<typeof WhyAnswer>;

export const why = {
  name: 'why',
  method: 'GET',
  path: '/api/histories/{history}/why/{node}',
  summary:
    'Returns the life of a node as seen from a position: its insertion, changes and removal, with cause and author.',
  params: historyParams.extend({ node: z.string().min(1).max(2048) }),
  query: z.strictObject({ at: reference.optional() }),
  answer: { kind: 'json', status: 200, schema: WhyAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  heavy: true,
} as const satisfies Question;
