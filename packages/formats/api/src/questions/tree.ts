import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { Excerpt, headers, location } from '../tree.ts';
import { count, historyParams, optionalWhole, reference } from '../values.ts';

/** A node of a tree as a list shows it. */
export const TreeNodeAnswer = z
  .strictObject({
    index: count.describe('its place in document order, the order of the provider thread'),
    ...headers,
    ...location,
    content: Excerpt.nullable().describe('null: the node has none'),
    thread: z
      .strictObject({ role: z.string().nullable(), kind: z.string().nullable() })
      .nullable()
      .describe('role and kind as the provider thread gives them; null: it is not in the thread'),
    failed: z
      .literal(true)
      .optional()
      .describe('the result of a tool that says of itself that it failed or was not finished'),
    new: z.boolean().describe('true: the snapshot before does not have it'),
    changed: z.array(z.string()).describe('what differs from the snapshot before, sorted; as in a diff'),
  })
  .meta({ id: 'TreeNode' });

export type TreeNodeAnswer = z.infer<typeof TreeNodeAnswer>;

/** A node that the snapshot before still had, and what took it. */
export const RemovedNode = z
  .strictObject({
    id: z.string(),
    nodeType: z.string(),
    role: z.string().nullable(),
    kind: z.string().nullable(),
    cycle: z.int(),
    content: Excerpt.nullable(),
    cause: z.enum(['expired', 'cascaded', 'pruned', 'removed']).nullable(),
  })
  .meta({ id: 'RemovedNode' });

export type RemovedNode = z.infer<typeof RemovedNode>;

/** A tree at a position, or a part of it: the nodes asked for, in document order. */
export const TreePage = z
  .strictObject({
    position: PositionAnswer,
    previous: PositionAnswer.nullable().describe(
      'the snapshot before, which `new`, `changed` and `removed` refer to',
    ),
    mode: z.enum(['full', 'pre']).describe('the part of the tree in the provider thread (context-tree §4)'),
    total: count.describe('nodes in the whole tree'),
    added: count,
    nodes: z.array(TreeNodeAnswer),
    removed: z.array(RemovedNode).describe('at most 1,000 of them'),
    removedTotal: count,
  })
  .meta({ id: 'TreePage' });

export type TreePage = z.infer<typeof TreePage>;

export const tree = {
  name: 'tree',
  method: 'GET',
  path: '/api/histories/{history}/tree',
  summary:
    'Returns the tree at a position: its nodes in document order, with what is new, changed and removed.',
  params: historyParams,
  query: z.strictObject({
    at: reference.optional(),
    skip: optionalWhole('the index of the first node (default: 0)'),
    limit: optionalWhole('the most nodes to return, at most 20,000 (default: 2,000)'),
    tail: optionalWhole(
      'the number of nodes to add from the end, where the newest are; at most 20,000 (default: 0)',
    ),
    excerpt: optionalWhole('characters of each content, at most 100,000 (default: 2,000)'),
  }),
  answer: { kind: 'json', status: 200, schema: TreePage },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  observed: 'opened',
} as const satisfies Question;
