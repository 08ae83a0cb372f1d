import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { headers, location } from '../tree.ts';
import { anyJson, count, historyParams, reference } from '../values.ts';

/** Everything about one node at a position. */
export const NodeDetail = z
  .strictObject({
    position: PositionAnswer,
    ...location,
    headers: z.strictObject({
      ...headers,
      content_hash: z.string().optional(),
      provenance: anyJson.optional(),
    }),
    expires: count
      .nullable()
      .describe('the first cycle whose snapshot no longer has the node; null: it stays'),
    children: z.array(z.string()),
    payload: z
      .record(z.string(), anyJson)
      .describe('content, content_*, data_* and every other attribute, whole; absent is absent'),
  })
  .meta({ id: 'NodeDetail' });

export type NodeDetail = z.infer<typeof NodeDetail>;

export const node = {
  name: 'node',
  method: 'GET',
  path: '/api/histories/{history}/nodes/{node}',
  summary: 'Returns one node at a position, with every header and its whole content.',
  params: historyParams.extend({ node: z.string().min(1).max(2048) }),
  query: z.strictObject({ at: reference.optional() }),
  answer: { kind: 'json', status: 200, schema: NodeDetail },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  observed: 'opened',
} as const satisfies Question;
