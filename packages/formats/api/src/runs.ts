import { z } from 'zod';
import { AttemptAnswer } from './attempts.ts';
import type { Endpoint } from './endpoint.ts';
import { anyJson, count, historyParams, reference } from './values.ts';

const object = z.record(z.string(), anyJson);
const mind = z
  .string()
  .min(1)
  .max(2_000)
  .describe(
    'openai:MODEL, openai.responses:MODEL, anthropic:MODEL or offline; one that STEMMA_MINDS of the server names',
  );
const error = z.strictObject({ code: z.string(), message: z.string() }).nullable();

const shared = {
  run: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .describe(
      'an id that the client makes: the same run sent again goes on, and pays for no recorded answer again',
    ),
  actor: z.string().min(1).max(256).describe('who has it done'),
  notes: z.string().optional().describe('the reason'),
  set: object.optional().describe('parameters of the request; null takes one away'),
  seconds: z
    .int()
    .min(1)
    .max(3_600)
    .optional()
    .describe('then what is under way is cancelled, and recorded as such (default: 300)'),
};

/** Goes on from a position with a model. */
const ContinueRequest = z
  .strictObject({
    ...shared,
    at: reference.optional().describe('the position (default: the tip); anything else is forked first'),
    name: z.string().min(1).max(128).optional().describe('the name of the fork'),
    calls: z.int().min(0).max(10_000).optional().describe('the most calls of the run (default: 1)'),
    tokens: z.int().min(1).optional().describe('the most tokens that its calls take together'),
    mind: mind.optional(),
    tools: z
      .enum(['recorded', 'none'])
      .optional()
      .describe('where results of tools come from (default: recorded)'),
  })
  .meta({ id: 'ContinueRequest' });

const ContinueAnswer = z
  .strictObject({
    run: z.string(),
    history: z.string(),
    branch: z.string(),
    branchId: count,
    forked: z.boolean(),
    position: z.string().describe('the position after it'),
    mind: z.string(),
    calls: z.array(AttemptAnswer),
    answer: anyJson.describe('the newest answer, as a message; null: there is none'),
    ended: z.enum(['done', 'calls', 'tokens', 'tools', 'length', 'refused', 'failed', 'cancelled']),
    why: z.string(),
    error,
    dropped: z
      .array(z.string())
      .describe('what the call before had and the API of the mind has nothing like'),
  })
  .meta({ id: 'ContinueAnswer' });

/** Asks a recorded call again. */
const RetryRequest = z
  .strictObject({
    ...shared,
    call: z
      .string()
      .min(1)
      .max(600)
      .describe('the position that the call was made with (@c7), or the id of an attempt'),
    minds: z.array(mind).max(100).optional().describe('whom to ask (default: who was asked)'),
    times: z.int().min(1).max(1_000).optional().describe('how often to ask each (default: 1)'),
    messages: z.array(object).min(1).max(100_000).optional().describe('sent in place of those that were'),
    name: z.string().min(1).max(100).optional().describe('what the names of the forks begin with'),
    parallel: z.int().min(1).max(100).optional().describe('the most calls at a time (default: 4)'),
  })
  .meta({ id: 'RetryRequest' });

const seen = {
  attempt: AttemptAnswer.nullable(),
  text: z.string(),
  toolCalls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
};

const RetryAnswer = z
  .strictObject({
    run: z.string(),
    history: z.string(),
    position: z.string(),
    first: z.strictObject(seen).nullable().describe('the first answer; null: nobody recorded it'),
    answers: z.array(
      z.strictObject({
        ...seen,
        mind: z.string(),
        branch: z.string(),
        branchId: count,
        name: z.string(),
        request: z
          .enum(['recorded', 'set', 'written'])
          .describe('the recorded bytes, these with other fields, or a body of its own'),
        dropped: z.array(z.string()),
        error,
        differences: z
          .array(z.strictObject({ kind: z.enum(['same', 'removed', 'added']), text: z.string() }))
          .nullable()
          .describe('from the text of the first answer'),
        isSameText: z.boolean().nullable(),
        isSameTools: z.boolean().nullable(),
      }),
    ),
    sameTools: z
      .strictObject({ count, of: count })
      .describe('of so many answers so many call the tools that the first one called'),
  })
  .meta({ id: 'RetryAnswer' });

const errors = [
  'E_HISTORY_NOT_FOUND',
  'E_BRANCH_NOT_FOUND',
  'E_SNAPSHOT_NOT_FOUND',
  'E_MIND_INVALID',
  'E_MIND_NOT_ALLOWED',
  'E_MIND_KEY_MISSING',
  'E_MIND_ELSEWHERE',
  'E_ACTOR_INVALID',
  'E_NAME_TAKEN',
  'E_CONFLICT',
  'E_BUSY',
  'E_OUTCOME_UNKNOWN',
  'E_RUN_REUSED',
] as const;

/** Endpoints that ask models (docs/continue.md). A client that goes cancels what is under way. */
export const RUNS = {
  continueBranch: {
    method: 'POST',
    path: '/api/histories/{history}/continue',
    summary:
      'Goes on from a position with a model, and answers when the run ends. Why it ended is in the answer, failures of the model too.',
    params: historyParams,
    body: ContinueRequest,
    answer: { kind: 'json', status: 200, schema: ContinueAnswer },
    errors,
  },
  retryCall: {
    method: 'POST',
    path: '/api/histories/{history}/retry',
    summary:
      'Asks a call again, changed or not, of one or several models, and answers when all have. Each answer is a fork of one call, beside the first.',
    params: historyParams,
    body: RetryRequest,
    answer: { kind: 'json', status: 200, schema: RetryAnswer },
    errors: [...errors, 'E_CALL_NOT_FOUND', 'E_INPUT_SHAPE', 'E_ROLE_UNKNOWN'],
  },
} as const satisfies Record<string, Endpoint>;
