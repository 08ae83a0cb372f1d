import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { count, historyParam, reference, wholeInQuery } from './values.ts';

const params = z.strictObject({ history: historyParam });
const at = reference.optional();
const found = ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'] as const;

/** A message of a pool as a list of all of them has it. */
const PoolRow = z
  .strictObject({
    id: z.string(),
    round: count.nullable(),
    mind_id: z.int().describe('which of the minds said it; -1: it came from outside'),
    source: z.string(),
    intervention: z.string().nullable(),
    sampled: count.describe('how often rounds showed it'),
    active: z.boolean(),
    characters: count,
    excerpt: z.string().describe('its first 300 characters'),
  })
  .meta({ id: 'PoolRow' });

const difference = z.strictObject({
  name: z.string(),
  effect: z.number().nullable(),
  interval: z.array(z.number()).nullable().describe('from and to, of 95 %'),
  p: z.number().nullable(),
});
const part = z.strictObject({
  p: z.number().nullable(),
  different: z.boolean(),
  size: z.number().describe('the size of difference that is asked for'),
  power: z.number().describe('the chance to see a difference of that size'),
  needed: count.nullable(),
  differences: z.array(difference),
});
const arm = z.strictObject({ runs: count, steps: count, units: count });
const branchList = z
  .string()
  .min(1)
  .max(10_000)
  .describe('branches of the history by id, separated by commas: each is a run of the arm');
const arms = z.strictObject({
  a: branchList,
  b: branchList,
  permutations: wholeInQuery
    .optional()
    .describe('the random divisions that the arms are held against, at most 9,999 (default: 1,999)'),
  seed: wholeInQuery.optional().describe('the seed of the random numbers (default: 0)'),
});

/** Endpoints of what the page shows of a pool at once: all its messages, where they lie on a map, and how near they are. */
export const POOL_MAP = {
  poolRows: {
    method: 'GET',
    path: '/api/histories/{history}/pool/rows',
    summary: 'Lists all messages of a pool at a position, the oldest first, each by its beginning.',
    params,
    query: z.strictObject({ at }),
    answer: {
      kind: 'json',
      status: 200,
      schema: z.strictObject({
        history: z.string(),
        branch_id: count,
        position: z.string(),
        round: count,
        rows: z.array(PoolRow),
      }),
    },
    errors: [...found],
  },
  poolMap: {
    method: 'GET',
    path: '/api/histories/{history}/pool/map',
    summary:
      'Gives each message of a pool that has a vector two coordinates, the same for the same messages and seed.',
    params,
    query: z.strictObject({
      at,
      seed: wholeInQuery.optional().describe('the seed of the random numbers (default: 0)'),
    }),
    answer: {
      kind: 'json',
      status: 200,
      schema: z.strictObject({
        position: z.string(),
        seed: count,
        method: z
          .enum(['umap', 'components'])
          .describe(
            'umap: who is near is near on the map; components: the two directions in which the vectors spread most, of more texts than UMAP is computed for',
          ),
        texts: count.describe('the different texts; messages of one text lie on one point'),
        ids: z.array(z.string()),
        x: z.array(z.number()),
        y: z.array(z.number()),
      }),
    },
    errors: [...found],
  },
  poolNear: {
    method: 'GET',
    path: '/api/histories/{history}/pool/near',
    summary: 'Lists the messages of a pool nearest to one of them or to a text, the nearest first.',
    params,
    query: z.strictObject({
      at,
      message: z.string().min(1).max(2048).optional().describe('the id of a message'),
      text: z.string().min(1).max(100_000).optional().describe('or a text'),
      limit: wholeInQuery.optional().describe('the most to return (default: 20)'),
    }),
    answer: {
      kind: 'json',
      status: 200,
      schema: z.strictObject({
        position: z.string(),
        near: z.array(
          z.strictObject({
            id: z.string(),
            similarity: z.number().describe('the cosine of both vectors, from -1 to 1'),
          }),
        ),
      }),
    },
    errors: [...found, 'E_NODE_NOT_FOUND', 'E_MIND_NOT_ALLOWED', 'E_EMBEDDER_INVALID'],
  },
  verdict: {
    method: 'GET',
    path: '/api/histories/{history}/verdict',
    summary: 'Says whether two arms of branches decide differently, or only tell it differently.',
    params,
    query: arms,
    answer: {
      kind: 'json',
      status: 200,
      schema: z
        .strictObject({
          of: z.enum(['pool', 'agent']),
          verdict: z.enum(['decisions differ', 'only the telling differs', 'both', 'neither', 'cannot tell']),
          judged: z.boolean().describe('false: the arms have too few runs'),
          units: z.enum(['runs', 'steps']),
          a: arm,
          b: arm,
          alpha: z.number(),
          permutations: count,
          seed: count,
          decisions: part,
          telling: part,
        })
        .meta({ id: 'VerdictAnswer' }),
    },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  },
  report: {
    method: 'GET',
    path: '/api/histories/{history}/report.html',
    summary:
      'Returns the report of an experiment with two arms as a self-contained page without scripts or external files: verdict, figures, attractors, map, interventions.',
    params,
    query: arms,
    answer: { kind: 'bytes', mime: 'text/html; charset=utf-8', describe: 'HTML' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>;
