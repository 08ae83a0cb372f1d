import { z } from 'zod';
import { CallAddressAnswer } from './attempts.ts';
import type { Endpoint } from './endpoint.ts';
import { historyParam } from './values.ts';

const corrector = {
  actor: z.string().describe('who corrects it'),
  notes: z.string().optional().describe('why (default: empty)'),
};

const AssignRequest = z
  .strictObject({
    to: z
      .string()
      .min(1)
      .nullable()
      .describe('the history or branch that the call belongs to; null: a new history'),
    name: z.string().optional().describe('of the new history'),
    following: z.boolean().optional().describe('also the calls after it on its branch (default: false)'),
    ...corrector,
  })
  .meta({ id: 'AssignRequest' });

export const AssignAnswer = z
  .strictObject({
    assigned: z.array(z.strictObject({ from: CallAddressAnswer, to: CallAddressAnswer })),
  })
  .meta({ id: 'AssignAnswer' });
export type AssignAnswer = z.infer<typeof AssignAnswer>;

const LinkRequest = z
  .strictObject({
    parent: z
      .strictObject({ history: z.string().min(1), attempt_id: z.string().min(1) })
      .nullable()
      .describe('the call that led to the conversation; null: none did'),
    ...corrector,
  })
  .meta({ id: 'LinkRequest' });

export const LinkAnswer = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    parent: CallAddressAnswer.nullable(),
  })
  .meta({ id: 'LinkAnswer' });
export type LinkAnswer = z.infer<typeof LinkAnswer>;

const NOT_FOUND = ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_CALL_NOT_FOUND'] as const;

/** Endpoints that correct whose conversation a call is (docs/rules/calls.md, 8). */
export const CORRECTIONS = {
  assignCall: {
    method: 'POST',
    path: '/api/histories/{history}/attempts/{attempt}/assign',
    summary:
      'Records an attempt where it belongs, and marks where it was. What was recorded stays. Sent again it has one effect.',
    params: z.strictObject({ history: historyParam, attempt: z.string().min(1).max(600) }),
    body: AssignRequest,
    answer: { kind: 'json', status: 200, schema: AssignAnswer },
    errors: [
      ...NOT_FOUND,
      'E_COMMAND_INVALID',
      'E_ACTOR_REQUIRED',
      'E_ACTOR_INVALID',
      'E_CONFLICT',
      'E_MESSAGES_DIFFER',
    ],
  },
  linkConversation: {
    method: 'POST',
    path: '/api/histories/{history}/link',
    summary: 'Says which call led to the conversation on a branch, in place of what a recorder guessed.',
    params: z.strictObject({ history: historyParam }),
    body: LinkRequest,
    answer: { kind: 'json', status: 200, schema: LinkAnswer },
    errors: [...NOT_FOUND, 'E_ACTOR_REQUIRED', 'E_ACTOR_INVALID', 'E_CONFLICT'],
  },
} as const satisfies Record<string, Endpoint>;
