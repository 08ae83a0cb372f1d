import { z } from 'zod';
import type { Question } from '../endpoint.ts';
import { anyJson, count, optionalWhole, historyParams } from '../values.ts';

const ids = z.array(z.string()).readonly();

/** What became of a content, from the older snapshot to the newer; one of `diff`, `patch` and `hunks` is there. */
const ContentDiff = z
  .strictObject({
    mode: z.enum(['unified', 'jsonpatch', 'tokens']),
    mime: z.string(),
    summary: z.strictObject({
      bytesNewer: count,
      bytesOlder: count,
      identical: z.boolean(),
      truncated: z
        .boolean()
        .describe('whether the contents are too large or too different to compare; the diff is then empty'),
    }),
    diff: z.string().optional().describe('unified: lines as in a patch'),
    patch: z
      .array(z.record(z.string(), anyJson))
      .readonly()
      .optional()
      .describe('jsonpatch: RFC 6902, older to newer'),
    hunks: z
      .array(z.strictObject({ op: z.enum(['equal', 'delete', 'insert']), text: z.string() }))
      .readonly()
      .optional()
      .describe('tokens: runs of words'),
  })
  .meta({ id: 'ContentDiff' });

const RangeDiff = z
  .strictObject({
    from: z.string().describe('the label of the newer snapshot'),
    to: z.string().describe('the label of the older one'),
    added_ids: ids.describe('ids in the newer only, in its order'),
    removed_ids: ids.describe('ids in the older only, in its order'),
    changed: z
      .array(
        z.strictObject({
          id: z.string(),
          fields: ids,
          delta: z
            .record(z.string(), z.strictObject({ from: anyJson, to: anyJson }))
            .describe('`from` is the newer value'),
          content_diff: ContentDiff.optional(),
        }),
      )
      .readonly(),
    stats: z.strictObject({ added: count, removed: count, changed: count }),
  })
  .meta({ id: 'RangeDiff' });

/** What a selector gives over a range of snapshots, each against the one before it (context-tree §6). */
const RangeResult = z
  .strictObject({
    query: z.string(),
    snapshots: z
      .array(z.strictObject({ kind: z.enum(['t', 'c']), value: z.int(), label: z.string(), cycle: count }))
      .readonly()
      .describe('newest first'),
    diffs: z.array(RangeDiff).readonly(),
    mode: z.literal('pairwise'),
    limits: z
      .strictObject({
        maxSnapshots: count.optional(),
        maxChangesPerSnapshot: count.optional(),
        truncated: z.literal(true).optional(),
      })
      .optional(),
  })
  .meta({ id: 'RangeResult' });

const flag = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean(),
);

export const range = {
  name: 'range',
  method: 'GET',
  path: '/api/histories/{history}/range',
  summary: 'Compares what a selector matches in each snapshot of a range with the snapshot before it.',
  params: historyParams,
  query: z.strictObject({
    selector: z
      .string()
      .min(1)
      .max(10_000)
      .describe('a selector that begins with a range: @t-5..@t0, @c3..9'),
    includeContent: flag.optional().describe('whether changed contents are compared (default: false)'),
    contentMode: z
      .enum(['unified', 'jsonpatch', 'tokens'])
      .optional()
      .describe('the form of the diffs (default: unified)'),
    contextLines: optionalWhole('the lines around each change of a unified diff (default: 3)'),
    maxSnapshots: optionalWhole('the most snapshots; a longer range is refused (default: 1,000)'),
    maxChangesPerSnapshot: optionalWhole(
      'the most changes listed for each pair; `stats` count them all (default: all)',
    ),
    limit: optionalWhole('the most pairs (default: all)'),
    skip: optionalWhole('the number of pairs to skip first (default: 0)'),
  }),
  answer: { kind: 'json', status: 200, schema: RangeResult },
  errors: [
    'E_HISTORY_NOT_FOUND',
    'E_SELECTOR_INVALID',
    'E_SNAPSHOT_NOT_FOUND',
    'E_SNAPSHOT_RANGE_LIMIT',
    'E_SNAPSHOT_RANGE_KIND_MISMATCH',
    'E_SNAPSHOT_RANGE_WILDCARD',
  ],
  heavy: true,
} as const satisfies Question;
