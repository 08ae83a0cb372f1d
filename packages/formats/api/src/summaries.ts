import { ImportSummary } from '@stemma/events';
import { z } from 'zod';
import { count, milliseconds } from './values.ts';

/** A call that led to another conversation; `why`: how that was found (docs/rules/calls.md, 3.8 and 8). */
export const callLink = z.strictObject({
  history: z.string(),
  branchId: count,
  attemptId: z.string(),
  why: z.enum(['argument', 'waiting', 'said', 'assigned']),
});

/** A call from which a conversation may go on. */
export const mayContinue = z
  .strictObject({ history: z.string(), branchId: count, attemptId: z.string() })
  .nullable()
  .describe(
    'a call that its conversation may go on from, although it shares no message with it, or its client names another session: nobody knows; null: none',
  );

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
      .describe(
        'the call that led to its conversation, as a recorder guessed, its file says or somebody said; null: none',
      ),
    mayContinue,
  })
  .meta({ id: 'Branch' });
export type BranchSummaryAnswer = z.infer<typeof BranchSummaryAnswer>;

/** What the file had that a history was imported from, as its import reported it (docs/rules/imports.md, 1). */
export const ImportAnswer = z
  .strictObject({
    format: z.string().describe('the format of the file: claude-code'),
    version: z.string().optional().describe('of the program that wrote it, or of the format'),
    title: z.string().optional(),
    ...ImportSummary.shape,
  })
  .meta({ id: 'Import' });
export type ImportAnswer = z.infer<typeof ImportAnswer>;

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
    import: ImportAnswer.nullable().describe(
      'what the file had that it was imported from: counts, fidelity, what is missing and what was dropped; an absent key: the file does not say. Null: no such import is recorded',
    ),
    labels: z.record(z.string(), z.string()).describe('what people labelled it with: task = refund'),
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
