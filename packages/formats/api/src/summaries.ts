import { z } from 'zod';
import { AttemptAnswer } from './attempts.ts';
import { author, count, milliseconds, sha256 } from './values.ts';

/** A call that led to another conversation; `why`: how that was found (docs/rules/calls.md, 3.8 and 8). */
export const callLink = z.strictObject({
  history: z.string(),
  branchId: count,
  attemptId: z.string(),
  why: z.enum(['argument', 'waiting', 'assigned']),
});

/** A branch of a history: `parent` and `at` say where it left the one it comes from; null for the first. */
export const BranchSummaryAnswer = z
  .strictObject({
    branch: z
      .string()
      .describe(
        'the name in addresses: the id of the history for the first branch, else <history>:<branch id>',
      ),
    branchId: count,
    name: z.string().nullable(),
    parent: count.nullable(),
    at: count.nullable(),
    calledBy: callLink
      .nullable()
      .describe('the call that led to its conversation, as a recorder guessed or somebody said; null: none'),
  })
  .meta({ id: 'Branch' });
export type BranchSummaryAnswer = z.infer<typeof BranchSummaryAnswer>;

/** A history in a list. `preview`: the first words that a user says in it, null where nobody has spoken yet. */
export const HistorySummaryAnswer = z
  .strictObject({
    history: z.string(),
    name: z.string().nullable(),
    state: z.enum(['open', 'damaged', 'defective']),
    stopped: count.nullable().describe('the first frame that is not served; null while the history is open'),
    preview: z.string().nullable().describe('the first words of the first user message'),
    startedAt: milliseconds,
    updatedAt: milliseconds,
    source: z.strictObject({ format: z.string(), sha256: z.string() }).nullable(),
    frames: count,
    events: count,
    cycles: count,
    branches: z.array(BranchSummaryAnswer),
  })
  .meta({ id: 'History' });
export type HistorySummaryAnswer = z.infer<typeof HistorySummaryAnswer>;

/** A position of a history: the state of a branch after one of its frames (context-tree §5). */
export const PositionAnswer = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    seq: count,
    cycle: count.nullable().describe('the newest commit at or before the position; null before the first'),
    committed: z.boolean().describe('true at a commit or an import: it is a snapshot'),
    label: z.string().describe('@c12 at a snapshot, @s57 elsewhere'),
  })
  .meta({ id: 'Position' });
export type PositionAnswer = z.infer<typeof PositionAnswer>;

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

export const HistoryPage = z
  .strictObject({
    total: count,
    histories: z.array(HistorySummaryAnswer),
    damage: z
      .array(z.string())
      .describe(
        'what is not shown although it was recorded, a sentence for each partition and all histories',
      ),
  })
  .meta({ id: 'HistoryPage' });
export type HistoryPage = z.infer<typeof HistoryPage>;
