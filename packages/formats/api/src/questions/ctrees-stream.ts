import { z } from 'zod';
import { CtreeNode, Ctrees, session } from '../ctrees.ts';
import type { Question } from '../endpoint.ts';
import { count } from '../values.ts';

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

export const ctreesStream = {
  name: 'ctreesStream',
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
  streamed: true,
} as const satisfies Question;
