import type { StepRequest } from '@stemma/history';
import { z } from 'zod';
import { anyStep, CommandAnswer, commandId, idempotent, who } from './commands.ts';
import type { Endpoint } from './endpoint.ts';
import { callLink, PositionAnswer } from './summaries.ts';
import { anyJson, count, historyParam, milliseconds, reference, wholeInQuery } from './values.ts';

const settings = z.record(z.string(), anyJson).describe('key → value; the fields of the policy among them');

/** A position that somebody saved. */
const SavedPosition = z
  .strictObject({
    id: z.string().describe('the name'),
    created_at: milliseconds,
    parent_id: z.string().nullable().describe('the saved position before it on its ancestor path'),
    description: z.string(),
    round_number: count.nullable().describe('the newest cycle at the position; null before the first'),
    config: settings,
    metrics: z
      .strictObject({ nodes: count, blocks: count, turns: count })
      .nullable()
      .describe('figures of the newest snapshot at or before the position'),
    position: PositionAnswer,
    branch: z.string(),
    branchId: count,
    actor: z.string().nullable(),
  })
  .meta({ id: 'SavedPosition' });

const cycleOf = count.nullable().describe('the newest cycle at the position; null before the first');

/** A branch in the tree of its history. */
export const BranchNodeAnswer = z
  .strictObject({
    branch: z.string(),
    branchId: count,
    name: z.string().nullable(),
    how: z.enum(['start', 'fork', 'rollback']),
    parent: z
      .strictObject({ branchId: count, seq: count, cycle: cycleOf, label: z.string() })
      .nullable()
      .describe('the position it starts from; null for the first branch'),
    called_by: callLink
      .nullable()
      .describe('the call that led to its conversation, as a recorder guessed or somebody said; null: none'),
    abandoned_by: count
      .nullable()
      .describe('the branch that the rollback started; null unless this branch is abandoned'),
    startedAt: milliseconds,
    updatedAt: milliseconds,
    seq: count,
    cycle: count.nullable(),
    frames: count,
    description: z.string(),
    saved: z.array(z.strictObject({ name: z.string(), seq: count, cycle: cycleOf, label: z.string() })),
  })
  .meta({ id: 'BranchNode' });
export type BranchNodeAnswer = z.infer<typeof BranchNodeAnswer>;

const Observation = z
  .strictObject({
    seq: count,
    actor: z.string(),
    kind: z.enum(['opened', 'searched', 'selected', 'exported']),
    what: z.string(),
    position: z.strictObject({ branch: z.string(), branchId: count, seq: count }),
    times: count,
    first_at: milliseconds,
    last_at: milliseconds,
  })
  .meta({ id: 'Observation' });

/** Continues a branch from a position: a rollback where that is in its past, else a fork. */
export const LoadRequest = z
  .strictObject({
    id: commandId,
    ...who,
    expected: count.optional(),
    from: reference.describe('a saved position, @name:NAME, or any other'),
    name: z.string().nullable().optional().describe('the name of the fork'),
    description: z.string().optional(),
  })
  .meta({ id: 'LoadRequest' });
export type LoadRequest = z.infer<typeof LoadRequest>;

/** Steps that are tried at a position. */
export const previewRequest = (step: z.ZodType<StepRequest, StepRequest>) =>
  z
    .strictObject({
      ...who,
      at: reference.optional().describe('the position (default: the tip)'),
      steps: z.array(step).min(1).max(1_000),
    })
    .meta({ id: 'PreviewRequest' });

/** What a model would be shown after steps, beside what it is shown without them. */
const PreviewAnswer = z
  .strictObject({
    position: PositionAnswer,
    same_first: count.describe('messages at the beginning that stay'),
    before: z.array(anyJson).describe('the messages between, as they are'),
    after: z.array(anyJson).describe('the messages between, as they would be'),
    same_last: count.describe('messages at the end that stay'),
    bytes_before: count,
    bytes_after: count,
  })
  .meta({ id: 'Preview' });

const history = z.strictObject({ history: historyParam });
const NOT_FOUND = ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'] as const;

/** Endpoints of branches and saved positions (docs/branches.md). */
export const BRANCHES = {
  branches: {
    method: 'GET',
    path: '/api/histories/{history}/branches',
    summary:
      'Lists the branches of a history, oldest first; with `of`, only the branches on the ancestor path of a position, from the root.',
    params: history,
    query: z.strictObject({ of: reference.optional() }),
    answer: {
      kind: 'json',
      status: 200,
      schema: z.strictObject({ history: z.string(), branches: z.array(BranchNodeAnswer) }),
    },
    errors: NOT_FOUND,
  },
  saved: {
    method: 'GET',
    path: '/api/saved',
    summary: 'Lists the saved positions of one history or of all, oldest first.',
    query: z.strictObject({ history: historyParam.optional() }),
    answer: { kind: 'json', status: 200, schema: z.strictObject({ saved: z.array(SavedPosition) }) },
    errors: ['E_HISTORY_NOT_FOUND'],
  },
  config: {
    method: 'GET',
    path: '/api/histories/{history}/config',
    summary: 'Returns the configuration in force at a position.',
    params: history,
    query: z.strictObject({ at: reference.optional() }),
    answer: {
      kind: 'json',
      status: 200,
      schema: z.strictObject({ position: PositionAnswer, config: settings }),
    },
    errors: NOT_FOUND,
  },
  observations: {
    method: 'GET',
    path: '/api/histories/{history}/observations',
    summary: 'Lists what named actors looked at, oldest first, if the history records it (`observe` is set).',
    params: history,
    query: z.strictObject({
      from: wholeInQuery.optional().describe('the first frame (default: 0)'),
      limit: wholeInQuery.optional().describe('the most to return, at most 1,000 (default: 100)'),
      actor: z.string().max(256).optional(),
    }),
    answer: { kind: 'json', status: 200, schema: z.strictObject({ observations: z.array(Observation) }) },
    errors: ['E_HISTORY_NOT_FOUND'],
  },
  preview: {
    method: 'POST',
    path: '/api/histories/{history}/preview',
    summary:
      'Tries steps at a position and records nothing: what the model would be shown, or the error that they would meet.',
    params: history,
    body: previewRequest(anyStep),
    answer: { kind: 'json', status: 200, schema: PreviewAnswer },
    errors: [
      ...NOT_FOUND,
      'E_ACTOR_REQUIRED',
      'E_COMMAND_INVALID',
      'E_NODE_INVALID',
      'E_NODE_NOT_FOUND',
      'E_NODE_EXISTS',
      'E_PLACEMENT',
      'E_SEALED',
      'E_HEADER_IMMUTABLE',
    ],
  },
  load: {
    method: 'POST',
    path: '/api/histories/{history}/load',
    summary: `Continues from a saved position: a rollback if it is on the ancestor path of the branch, else a fork. ${idempotent}`,
    params: history,
    body: LoadRequest,
    answer: { kind: 'json', status: 200, schema: CommandAnswer },
    errors: [...NOT_FOUND, 'E_CONFLICT', 'E_COMMAND_REUSED', 'E_ACTOR_REQUIRED', 'E_NAME_TAKEN'],
  },
} as const satisfies Record<string, Endpoint>;
