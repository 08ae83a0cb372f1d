import { z } from 'zod';
import { TimelineEntry } from '../causes.ts';
import type { Question } from '../endpoint.ts';
import { RequestChangeAnswer } from '../request-change.ts';
import { PositionAnswer } from '../summaries.ts';
import { count, historyParams, reference } from '../values.ts';

/** Exactly what context-tree §7 says a diff is. */
export const Diff = z
  .strictObject({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.strictObject({ id: z.string(), fields: z.array(z.string()) })),
  })
  .meta({ id: 'Diff' });

export type Diff = z.infer<typeof Diff>;

const bytes = z.strictObject({ from: count, to: count }).nullable();

const request = z
  .array(RequestChangeAnswer)
  .nullable()
  .describe(
    'tools and parameters that differ between the newest calls with the two positions; null: no call is recorded with one of them',
  );

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
  request,
}).meta({ id: 'ExplainedDiff' });

type ExplainedDiffAnswer = z.infer<typeof ExplainedDiffAnswer>;

export const diff = {
  name: 'diff',
  method: 'GET',
  path: '/api/histories/{history}/diff',
  summary: 'Compares the older position `a` with the newer `b`; with `explain=1`, with the causes.',
  params: historyParams,
  query: z.strictObject({
    a: reference,
    b: reference,
    explain: z
      .enum(['0', '1'])
      .optional()
      .describe(
        '1: with the causes of each entry, possible moves, byte ranges in both threads, and what else the requests differ in (default: 0)',
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
  answer: {
    kind: 'json',
    status: 200,
    schema: z.union([Diff, ExplainedDiffAnswer]),
  },
  errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_SELECTOR_INVALID'],
  heavy: true,
} as const satisfies Question;
