import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { anyJson, count, reference, wholeInQuery } from './values.ts';

/*
 * The compiler stages of a history (compiler-stages), under the addresses that clients of C-Trees know. No answer holds
 * text of a message or tool result, but previews where `include_previews` asks for them.
 */

const hash = z.string().regex(/^[0-9a-f]{40}$|^[0-9a-f]{64}$/);
const StageHashes = z
  .strictObject({ node_hash: hash, z1: hash, z2: hash, z3: hash })
  .meta({ id: 'StageHashes' });
const stageName = z.enum(['RAW', 'SPEC', 'HEADER', 'FROZEN']);
const ids = z.array(z.string());

/** A node of the stream in hashes. `payload` is that of lifecycle nodes (ordinals and a cycle), null for all others. */
const CtreeNode = z
  .strictObject({
    node_id: z.string(),
    ordinal: count,
    kind: z.string(),
    turn: z.int().nullable(),
    label: z.string(),
    digest: hash,
    payload_hash: hash,
    payload_shape: z.union([z.string(), z.array(z.union([z.string(), z.int()]))]),
    payload: anyJson,
    frame: count.describe('the `seq` of the frame that added it'),
  })
  .meta({ id: 'CtreeNode' });
type CtreeNode = z.infer<typeof CtreeNode>;

const stage = z.looseObject({ schema_version: z.string() });

/** The whole output of the compiler. */
const CtreeCompiler = z
  .strictObject({
    kind: z.literal('ctree_compiler'),
    compiler_version: z.string(),
    schema_version: z.string(),
    node_count: count,
    event_count: count,
    has_prompt_summary: z.boolean(),
    hashes: StageHashes,
    stages: z.strictObject({ RAW: stage, SPEC: stage, HEADER: stage, FROZEN: stage }),
  })
  .meta({ id: 'CtreeCompiler' });

const collapsed = {
  target: z.int().nullable(),
  drop: ids,
  collapse: ids,
  node_count: count,
  ordering: z.literal('append'),
};

export const Ctrees = z
  .strictObject({
    snapshot: z.strictObject({
      schema_version: z.string(),
      node_count: count,
      event_count: count,
      last_id: z.string().nullable(),
      node_hash: hash,
    }),
    last_node: CtreeNode.nullable(),
    compiler: CtreeCompiler,
    collapse: z.strictObject({
      kind: z.literal('deterministic'),
      mode: z.enum(['none', 'all_but_last']),
      kinds: ids.nullable(),
      dropped: count,
      collapsed: count,
      stages: z.array(z.strictObject({ stage: stageName, ...collapsed })),
      ...collapsed,
    }),
    hashes: StageHashes,
  })
  .meta({ id: 'Ctrees' });
export type Ctrees = z.infer<typeof Ctrees>;

export const CtreeView = z
  .strictObject({
    root_id: z.string(),
    nodes: z.array(
      z.strictObject({
        id: z.string(),
        parent_id: z.string().nullable(),
        kind: z.string(),
        turn: z.int().nullable(),
        label: z.string(),
        meta: z.record(z.string(), anyJson),
      }),
    ),
    stage: stageName,
    selection: z.strictObject({
      stage: stageName,
      candidate_count: count,
      kept_count: count,
      dropped_count: count,
      collapsed_count: count,
      pinned_count: count,
      candidate_ids: ids,
      kept_ids: ids,
      dropped_ids: ids,
      collapsed_ids: ids,
      pinned_ids: ids,
      selection_sha256: hash,
    }),
    hashes: StageHashes.extend({ tree_sha256: hash }),
  })
  .meta({ id: 'CtreeView' });
export type CtreeView = z.infer<typeof CtreeView>;

const CtreeEvents = z
  .strictObject({ events: z.array(CtreeNode), offset: count, limit: count, total: count })
  .meta({ id: 'CtreeEvents' });
type CtreeEvents = z.infer<typeof CtreeEvents>;

const message = <T extends string, P extends z.ZodType>(type: T, payload: P) =>
  z.strictObject({
    type: z.literal(type),
    session_id: z.string(),
    seq: count.describe('the frame: grows within a session'),
    payload,
  });

/** The data of the messages `ctree_node`, one a node, and `ctree_snapshot`, one a snapshot. */
export const CtreeMessage = z
  .discriminatedUnion('type', [
    message('ctree_node', z.strictObject({ node: CtreeNode })),
    message('ctree_snapshot', Ctrees),
  ])
  .meta({ id: 'CtreeMessage' });
export type CtreeMessage = z.infer<typeof CtreeMessage>;

const session = z.strictObject({
  session: z.string().min(1).max(600).describe('a history or branch, by id or name'),
});
const settings = {
  at: reference.optional(),
  profile: z.enum(['stemma-1', 'breadboard-0.1']).optional().describe('the profile (default: stemma-1)'),
};
const NOT_FOUND = [
  'E_HISTORY_NOT_FOUND',
  'E_HISTORY_AMBIGUOUS',
  'E_BRANCH_NOT_FOUND',
  'E_SNAPSHOT_NOT_FOUND',
] as const;

/** Endpoints of the compiler stages (docs/stages.md). */
export const CTREES = {
  ctrees: {
    method: 'GET',
    path: '/sessions/{session}/ctrees',
    summary:
      'Returns the compiler stages of a branch at a position: snapshot, last node, compiler, collapse policy, hashes.',
    params: session,
    query: z.strictObject(settings),
    answer: { kind: 'json', status: 200, schema: Ctrees },
    errors: NOT_FOUND,
  },
  ctreesTree: {
    method: 'GET',
    path: '/sessions/{session}/ctrees/tree',
    summary: 'Returns a stage as a tree of turns and nodes.',
    params: session,
    query: z.strictObject({
      stage: stageName.optional().describe('the stage (default: FROZEN)'),
      include_previews: z
        .enum(['true', 'false', '1', '0'])
        .optional()
        .describe('the beginning of each message, with likely secrets redacted (default: false)'),
      ...settings,
    }),
    answer: { kind: 'json', status: 200, schema: CtreeView },
    errors: NOT_FOUND,
  },
  ctreesEvents: {
    method: 'GET',
    path: '/sessions/{session}/ctrees/events',
    summary: 'Lists the node stream of a branch as hashes, oldest first, a page at a time.',
    params: session,
    query: z.strictObject({
      at: reference.optional(),
      offset: wholeInQuery.optional().describe('the number to skip first (default: 0)'),
      limit: wholeInQuery.optional().describe('the most to return, at most 1,000 (default: 100)'),
    }),
    answer: { kind: 'json', status: 200, schema: CtreeEvents },
    errors: NOT_FOUND,
  },
  ctreesStream: {
    method: 'GET',
    path: '/sessions/{session}/ctrees/stream',
    summary:
      'Streams the nodes and snapshots of a branch as server-sent events. Resumes after `Last-Event-ID` (or `after`).',
    params: session,
    query: z.strictObject({
      after: z.string().min(1).max(8192).optional().describe('a cursor: the `id` of a message'),
    }),
    answer: {
      kind: 'stream',
      message: CtreeMessage,
      describe:
        'messages `event: ctree_node` and, behind the nodes of its frame, `event: ctree_snapshot`; the last of a batch ' +
        'has the cursor as its `id`; a comment every 15 s when nothing happens; `event: end` with an error when the ' +
        'server ends the stream',
    },
    errors: ['E_STREAM_GONE', 'E_HISTORY_NOT_FOUND', 'E_BUSY'],
  },
} as const satisfies Record<string, Endpoint>;
