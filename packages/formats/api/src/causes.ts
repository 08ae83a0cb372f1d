import { z } from 'zod';
import { Diff } from './answers.ts';
import type { Endpoint } from './endpoint.ts';
import { PositionAnswer } from './summaries.ts';
import { author, count, historyParam, milliseconds, reference } from './values.ts';

const MUTATIONS = {
  start: 'created with the history',
  insert: 'inserted',
  replace: 'replaced',
  move: 'moved',
  carry: 'moved',
  remove: 'removed',
  priority: 'given another priority',
} as const;
type Mutation = keyof typeof MUTATIONS;

/** What a mutation did to its node, in words: `inserted`. */
export const pastOf = (op: Mutation): string => MUTATIONS[op];

/** Why something about a node is other than one frame before (docs/causes.md). */
const Cause = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('mutation'),
      op: z.enum(Object.keys(MUTATIONS) as [Mutation, ...Mutation[]]),
      by: z.string().nullable().describe('the node that the command named, if this node was only inside it'),
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
  cycle: count.describe('the open cycle; of a commit or import the cycle that it ended'),
  until: count
    .nullable()
    .describe('of ageing: the last of the consecutive cycles that each lowered ttl by one'),
  cause: Cause,
  command: z.string(),
  author,
  at: milliseconds,
  notes: z.string().nullable().describe('of an intervention: the notes of its actor'),
});

const bytes = z.strictObject({ from: count, to: count }).nullable();

/** A diff with the causes of each entry in order, what may have been moved, and where each entry is in both threads. */
const ExplainedDiffAnswer = Diff.extend({
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
          fields: z.array(z.string()).describe('the fields of the entry that the cause explains'),
          undone: z.boolean().describe('it is on the path back to the merge base'),
        }),
      ),
      bytes: z.strictObject({ a: bytes, b: bytes }),
    }),
  ),
  moves: z.array(z.strictObject({ from: z.string(), to: z.string(), contentHash: z.string() })),
}).meta({ id: 'ExplainedDiff' });
type ExplainedDiffAnswer = z.infer<typeof ExplainedDiffAnswer>;

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
    summary: 'Compares the older position `a` with the newer `b`; with `explain=1`, with the causes.',
    params: history,
    query: z.strictObject({
      a: reference,
      b: reference,
      explain: z
        .enum(['0', '1'])
        .optional()
        .describe(
          '1: with the causes of each entry, possible moves, and byte ranges in both threads (default: 0)',
        ),
      selector: z
        .string()
        .min(1)
        .max(10_000)
        .optional()
        .describe(
          'a selector without a position for the nodes to compare, matched at either position (default: all)',
        ),
    }),
    answer: { kind: 'json', status: 200, schema: z.union([Diff, ExplainedDiffAnswer]) },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  },
  why: {
    method: 'GET',
    path: '/api/histories/{history}/why/{node}',
    summary:
      'Returns the life of a node as seen from a position: its insertion, changes and removal, with cause and author.',
    params: history.extend({ node: z.string().min(1).max(2048) }),
    query: z.strictObject({ at: reference.optional() }),
    answer: { kind: 'json', status: 200, schema: WhyAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>;
