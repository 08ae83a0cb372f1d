import type { StepRequest } from '@stemma/history';
import { z } from 'zod';
import { anyStep, CommandAnswer, commandId, idempotent, who } from './commands.ts';
import type { Endpoint } from './endpoint.ts';
import { PositionAnswer } from './summaries.ts';
import { anyJson, count, historyParams, reference } from './values.ts';

export const settings = z
  .record(z.string(), anyJson)
  .describe('key → value; the fields of the policy among them');
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

const NOT_FOUND = ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'] as const;

/** Endpoints of branches and saved positions (docs/branches.md). */
export const BRANCHES = {
  preview: {
    method: 'POST',
    path: '/api/histories/{history}/preview',
    summary:
      'Tries steps at a position and records nothing: what the model would be shown, or the error that they would meet.',
    params: historyParams,
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
    params: historyParams,
    body: LoadRequest,
    answer: { kind: 'json', status: 200, schema: CommandAnswer },
    errors: [...NOT_FOUND, 'E_CONFLICT', 'E_COMMAND_REUSED', 'E_ACTOR_REQUIRED', 'E_NAME_TAKEN'],
  },
} as const satisfies Record<string, Endpoint>;
