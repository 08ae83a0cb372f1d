import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { count, reference, wholeInQuery, historyParams } from '../values.ts';

const figure = z.number().nullable();

/** A pool in figures at a snapshot (pool §7.2, §7.3). */
const PoolSnapshot = z
  .strictObject({
    position: z.string(),
    branch_id: count,
    embedder: z.string().describe('by whose vectors it is measured'),
    round: count,
    messages: count,
    active: count,
    embedded: count.describe('the active messages that have a vector'),
    texts: count.describe('the different texts among the active messages'),
    added: count.describe('the messages since the snapshot before'),
    diversity: figure.describe('mean cosine distance of all pairs of active messages'),
    similarity: figure.describe('mean cosine similarity of all pairs of added messages'),
    seed_distance: figure.describe(
      'mean cosine distance of the added messages from the centroid of the seed messages',
    ),
    noise: count.nullable().describe('the active messages in no attractor'),
    attractors: z
      .array(
        z.strictObject({
          identity: count.describe('the same attractor has the same number at all snapshots of the way'),
          size: count,
          coherence: z.number(),
          representative: z.string().describe('the message nearest to the centroid'),
          members: z.array(z.string()),
          rounds: z.strictObject({ first: count, last: count, count }),
        }),
      )
      .nullable()
      .describe('null: more messages are active than are searched at every snapshot'),
  })
  .meta({ id: 'PoolSnapshot' });

export const poolMetrics = {
  name: 'poolMetrics',
  method: 'GET',
  path: '/api/histories/{history}/pool/metrics',
  summary: 'Returns the figures of a pool at every snapshot on the way to a position, the oldest first.',
  params: historyParams,
  query: z.strictObject({
    at: reference.optional(),
    last: wholeInQuery.optional().describe('only so many of the newest snapshots (default: all)'),
  }),
  answer: {
    kind: 'json',
    status: 200,
    schema: z.strictObject({
      embedder: z.string(),
      snapshots: z.array(PoolSnapshot),
      now: PoolSnapshot.describe('the position itself, with what came after its last snapshot'),
    }),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'],
} as const satisfies Question;
