import { z } from 'zod';
import { PositionAnswer } from './summaries.ts';
import { anyJson, count, nanoseconds } from './values.ts';

/** The beginning of a content, and how much there is: the whole is at the node's own address. */
export const Excerpt = z
  .strictObject({
    text: z.string().describe('the beginning; of anything but a text, of its JSON'),
    form: z.enum(['text', 'json']),
    characters: count.describe('UTF-16 code units of the whole'),
    complete: z.boolean(),
  })
  .meta({ id: 'Excerpt' });
export type Excerpt = z.infer<typeof Excerpt>;

/** The three regions; null for the root. */
const region = z.enum(['^sys', '^seq', '^ah']).nullable();

const headers = {
  id: z.string(),
  nodeType: z.string(),
  offset: z.int(),
  ttl: count.nullable().describe('as the snapshot shows it; null: unlimited'),
  priority: z.number(),
  cycle: z.int().describe('the cycle that introduced it'),
  created_at_ns: nanoseconds,
  /** Null: the time is not known. */
  created_at_iso: z.string().nullable(),
  creation_index: count,
  role: z.string().nullable().optional(),
  kind: z.string().nullable().optional(),
  key: z.string().nullable().optional(),
  removable: z.boolean().nullable().optional(),
  refs: z.array(z.string()).nullable().optional(),
};

const location = {
  shape: z.enum(['root', 'region', 'turn', 'container', 'block']),
  region,
  parent: z.string().nullable(),
  depth: z
    .int()
    .nullable()
    .describe('-1 under ^sys, 0 under ^ah, n for the n-th newest turn; null for root and regions'),
};

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
