import { z } from 'zod';
import { Diff } from './answers.ts';
import type { Endpoint } from './endpoint.ts';
import { PositionAnswer } from './summaries.ts';
import { author, count, historyParam, milliseconds, reference } from './values.ts';

/** Why something about a node is other than one frame before (docs/causes.md). */
const Cause = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('mutation'),
      op: z.enum(['start', 'insert', 'replace', 'move', 'carry', 'remove', 'priority']),
      by: z.string().nullable().describe('the node that the command named, where this one only lay in it'),
    }),
    z.strictObject({ kind: z.literal('import') }),
    z.strictObject({ kind: z.literal('expiry') }),
    z.strictObject({
      kind: z.literal('cascade'),
      why: z.enum(['contained', 'emptied']),
      by: z.string(),
    }),
    z.strictObject({ kind: z.literal('pruning'), rule: z.literal('max_blocks'), rank: count }),
    z.strictObject({ kind: z.literal('ageing') }),
    z.strictObject({ kind: z.literal('sealing'), turn: z.string() }),
    z.strictObject({ kind: z.literal('hold'), by: z.string() }),
  ])
  .meta({ id: 'Cause' });

/** Something that happened to a node, and the frame that did it. */
const TimelineEntry = z.strictObject({
  branchId: count,
  seq: count,
  index: count.describe('the event is the index-th of frame seq'),
  event: z.string(),
  cycle: count.describe('the one that ran; of a commit or import the one that it ended'),
  until: count.nullable().describe('of ageing: the last of the cycles in a row that took one off ttl each'),
  cause: Cause,
  command: z.string(),
  author,
  at: milliseconds,
  notes: z.string().nullable().describe('of an intervention: what its actor wrote to it'),
});

const bytes = z.strictObject({ from: count, to: count }).nullable();

/** A diff with the causes of each entry in order, what may have been moved, and where each entry is in both threads. */
export const ExplainedDiffAnswer = Diff.extend({
  a: PositionAnswer,
  b: PositionAnswer,
  mergeBase: z.strictObject({ branchId: count, seq: count, cycle: count }),
  entries: z.array(
    z.strictObject({
      id: z.string(),
      change: z.enum(['added', 'removed', 'changed']),
      fields: z.array(z.string()),
      causes: z.array(
        TimelineEntry.extend({
          fields: z.array(z.string()).describe('those of the entry that it accounts for'),
          undone: z.boolean().describe('it lies on the way back to what both positions have in common'),
        }),
      ),
      bytes: z.strictObject({ a: bytes, b: bytes }),
    }),
  ),
  moves: z.array(z.strictObject({ from: z.string(), to: z.string(), contentHash: z.string() })),
}).meta({ id: 'ExplainedDiff' });
export type ExplainedDiffAnswer = z.infer<typeof ExplainedDiffAnswer>;

const NodeTimelineEntry = TimelineEntry.extend({
  explains: z.union([z.enum(['added', 'removed']), z.array(z.string())]),
  parent: z.string().nullable().optional(),
  ttl: count.nullable().optional(),
  priority: z.number().optional(),
});

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
  })
  .meta({ id: 'Why' });
export type WhyAnswer = z.infer<typeof WhyAnswer>;

const history = z.strictObject({ history: historyParam });

/** Endpoints of the questions about why (docs/causes.md). */
export const CAUSES = {
  diff: {
    method: 'GET',
    path: '/api/histories/{history}/diff',
    summary: 'What is different in `b` from `a`; `a` is the older. With `explain=1` and why.',
    params: history,
    query: z.strictObject({
      a: reference,
      b: reference,
      explain: z
        .enum(['0', '1'])
        .optional()
        .describe(
          '1: with the causes of each entry, what may have been moved, and its bytes in both threads',
        ),
      selector: z
        .string()
        .min(1)
        .max(10_000)
        .optional()
        .describe('only what it matches in either; it names no snapshot of its own'),
    }),
    answer: { kind: 'json', status: 200, schema: z.union([Diff, ExplainedDiffAnswer]) },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
  why: {
    method: 'GET',
    path: '/api/histories/{history}/why/{node}',
    summary:
      'The life of a node as seen from a position: how it came, what happened to it, why it left, and who did it.',
    params: history.extend({ node: z.string().min(1).max(2048) }),
    query: z.strictObject({ at: reference.optional() }),
    answer: { kind: 'json', status: 200, schema: WhyAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>;
