import { z } from 'zod';
import { compared } from '../audit.ts';
import type { Question } from '../endpoint.ts';
import { interventionTypes } from '../interventions.ts';
import { RequestChangeAnswer } from '../request-change.ts';
import { PositionAnswer } from '../summaries.ts';
import { author, count, historyParams, milliseconds, wholeInQuery } from '../values.ts';

/** A frame and who wrote it. */
const ComparedFrame = z
  .strictObject({
    seq: count,
    branchId: count,
    at: milliseconds,
    author,
    command: z.string(),
    intervention: z
      .strictObject({ type: z.enum(interventionTypes), notes: z.string() })
      .nullable()
      .describe("type and notes of the intervention; null: an agent's own record"),
  })
  .meta({ id: 'ComparedFrame' });

const counted = {
  position: PositionAnswer,
  nodes: count,
  blocks: count,
  turns: count,
  shown: count.describe('blocks of the provider thread'),
  tokens: count.describe('tokens of their contents'),
};

const node = {
  id: z.string(),
  nodeType: z.string(),
  role: z.string().nullable(),
  kind: z.string().nullable(),
  tokens: count.nullable(),
  excerpt: z.string().nullable(),
  characters: count,
};

const side = z
  .strictObject({
    ...counted,
    first: ComparedFrame.nullable().describe(
      'its first frame after the merge base; null: it is the merge base',
    ),
    frames: count,
    interventionFrames: z.array(ComparedFrame).describe('its frames by actors, oldest first, at most 200'),
    interventions: count.describe('the number of all of them'),
    added: z.array(z.strictObject(node)),
    removed: z.array(z.strictObject(node)),
    changed: z.array(z.strictObject({ ...node, fields: z.array(z.string()) })),
  })
  .meta({ id: 'ComparedSide' });

const cycleCounts = z.strictObject({ seq: count, nodes: count, blocks: count, turns: count }).nullable();

const threads = z
  .strictObject({
    same: count.describe('messages that are the same on both sides, at the same place'),
    differences: z.array(
      z.strictObject({
        what: z.enum(['only-a', 'only-b', 'changed']),
        at: z
          .strictObject({ a: count, b: count })
          .describe("the blocks of each side's thread that stand before it"),
        a: z.array(z.strictObject(node)).describe('its blocks in A; empty: it is not there'),
        b: z.array(z.strictObject(node)).describe('its blocks in B; empty: it is not there'),
        causes: z
          .array(
            z.strictObject({
              side: z.enum(['a', 'b']),
              how: z.enum(['inserted', 'replaced', 'removed']),
              frame: ComparedFrame,
            }),
          )
          .describe('what actors did to it; empty: recorders recorded it so'),
        after: count
          .nullable()
          .describe(
            'without a cause: the cycle since which calls were shown something else, if it was recorded later',
          ),
      }),
    ),
    since: count
      .nullable()
      .describe('the cycle of the first call that was shown something else; null: none of those compared'),
  })
  .describe('the messages that the model is shown, aligned by what they say')
  .meta({ id: 'ComparedThreads' });

/** Two positions side by side. */
const ComparisonAnswer = z
  .strictObject({
    history: z.string(),
    relation: z
      .enum(['same', 'a-before-b', 'b-before-a', 'diverged', 'apart'])
      .describe('`apart`: they are of two histories'),
    mergeBase: z
      .strictObject(counted)
      .nullable()
      .describe('the newest position on both ancestor paths; null: they are of two histories'),
    a: side,
    b: side,
    divergedBy: ComparedFrame.extend({
      how: z.enum(['fork', 'rollback']),
      side: z.enum(['a', 'b']),
    }).nullable(),
    alike: z
      .array(z.strictObject({ a: z.string(), b: z.string() }))
      .describe(
        'nodes added on both sides under different ids: blocks of the same content, and their containers',
      ),
    threads,
    request: z
      .array(RequestChangeAnswer)
      .nullable()
      .describe(
        'tools and parameters that differ between the newest calls on the ways to A and B; null: there is none on one of them',
      ),
    cycles: z.array(z.strictObject({ cycle: count, a: cycleCounts, b: cycleCounts, same: z.boolean() })),
    moreCycles: count,
    encoding: z.string().describe('the vocabulary that tokens are counted in'),
  })
  .meta({ id: 'Comparison' });

export const compare = {
  name: 'compare',
  method: 'GET',
  path: '/api/histories/{history}/compare',
  summary:
    'Compares two branches or positions, of one history or two: the merge base, who forked, what differs and why.',
  params: historyParams,
  query: z.strictObject({
    a: compared,
    b: compared,
    excerpt: wholeInQuery.optional().describe('characters of each content, at most 100,000 (default: 2,000)'),
  }),
  answer: { kind: 'json', status: 200, schema: ComparisonAnswer },
  errors: ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  heavy: true,
} as const satisfies Question;
