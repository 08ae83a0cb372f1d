import { z } from 'zod';
import { AttemptAnswer } from '../attempts.ts';
import type { Question } from '../endpoint.ts';
import { PositionAnswer } from '../summaries.ts';
import { author, count, historyParams, milliseconds, optionalWhole, sha256 } from '../values.ts';

/** A snapshot in a list. `added` and `left` count the nodes that came and went since the snapshot before it. */
export const SnapshotSummaryAnswer = z
  .strictObject({
    label: z.string(),
    cycle: count,
    branchId: count,
    seq: count,
    treeHash: sha256,
    threadHash: sha256,
    at: milliseconds,
    author,
    command: z.string(),
    nodes: count,
    blocks: count,
    turns: count,
    names: z.array(z.string()),
    added: count,
    removed: count,
    calls: count
      .nullable()
      .describe(
        'the attempts to call a model with it; 0: no call stands behind it; null: no call of the history is recorded',
      ),
    call: AttemptAnswer.nullable().describe('the newest of these attempts; null: there is none'),
  })
  .meta({ id: 'Snapshot' });

export type SnapshotSummaryAnswer = z.infer<typeof SnapshotSummaryAnswer>;

/** A page of snapshots, newest first. `next`: give it as `before` for the page behind; null: this was the last. */
export const SnapshotPage = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    newest: count.nullable().describe('the newest cycle of the branch; null before the first'),
    oldest: count.nullable().describe('its oldest cycle; cycles between have no gaps'),
    working: PositionAnswer.describe('the tip of the branch'),
    snapshots: z.array(SnapshotSummaryAnswer),
    next: count.nullable(),
  })
  .meta({ id: 'SnapshotPage' });

export type SnapshotPage = z.infer<typeof SnapshotPage>;

export const snapshots = {
  name: 'snapshots',
  method: 'GET',
  path: '/api/histories/{history}/snapshots',
  summary: 'Lists the snapshots on the ancestor path of a branch, newest first, a page at a time.',
  params: historyParams,
  query: z.strictObject({
    limit: optionalWhole('the most to return, at most 200 (default: 50)'),
    before: optionalWhole('the cycle that all are older than'),
  }),
  answer: { kind: 'json', status: 200, schema: SnapshotPage },
  errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND'],
} as const satisfies Question;
