import { ENDPOINT_FAULTS } from '@stemma/errors';
import { z } from 'zod';
import { commandId } from './commands.ts';
import type { Endpoint } from './endpoint.ts';
import { anyJson, count, historyParams } from './values.ts';

const actor = z.string().min(1).max(256).describe('who has it done');
const notes = z.string().optional().describe('the reason');
const by = { actor, notes };
export const object = z.record(z.string(), anyJson);

/** Starts a pool. */
const StartPoolRequest = z
  .strictObject({
    id: commandId,
    ...by,
    name: z.string().nullable().optional().describe('the name of the history'),
    messages: z.array(z.string().max(1_000_000)).max(10_000).optional().describe('the messages of round 0'),
    system: z.string().optional().describe('what every round shows first'),
    settings: object
      .optional()
      .describe('sample_size, active_pool_size, seed, minds, embedder, prompt, parameters (docs/pools.md)'),
  })
  .meta({ id: 'StartPoolRequest' });
const end = z.enum(['rounds', 'tokens', 'cost', 'time', 'stopped', 'failed', 'cancelled']);
const error = z.strictObject({ code: z.string(), message: z.string() }).nullable();

const limits = {
  rounds: z.int().min(1).max(1_000_000).describe('how many rounds'),
  checkpointEvery: z.int().min(1).optional().describe('a `run` intervention after so many rounds, too'),
  tokens: z.int().min(1).optional().describe('the most tokens that the rounds take together'),
  cost: z
    .string()
    .regex(/^\d{1,18}(\.\d{1,18})?$/)
    .optional()
    .describe('the most that they cost, a decimal number in the currency of the price table'),
};

/** Runs a pool while the client waits. */
const RunPoolRequest = z
  .strictObject({
    ...by,
    ...limits,
    seconds: z.int().min(1).max(3_600).optional().describe('the most seconds (default: 300)'),
  })
  .meta({ id: 'RunPoolRequest' });

const RunPoolAnswer = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    position: z.string().describe('the position after it'),
    rounds: count.describe('rounds that were finished'),
    round: count.describe('the newest round of the branch'),
    added: count,
    tokens: count,
    ended: end,
    why: z.string(),
    error,
  })
  .meta({ id: 'RunPoolAnswer' });

const whose = 'one of `message`, `vector_id`, `text` and `text_hash` says whose the vector is';

/** Records vectors of the texts of a pool. */
const EmbedPoolRequest = z
  .strictObject({
    id: commandId,
    ...by,
    embedder: z
      .string()
      .min(1)
      .max(512)
      .optional()
      .describe(
        'with `vectors`: by which embedder they are, such as outside:mine (default: that of the pool)',
      ),
    vectors: z
      .array(
        z.strictObject({
          vector: z.array(z.number()).min(1).max(65_536),
          message: z.string().min(1).max(2_048).optional().describe('the id of a message'),
          vector_id: count.optional().describe('the number of a message'),
          text: z.string().max(1_000_000).optional(),
          text_hash: z
            .string()
            .regex(/^[0-9a-f]{64}$/)
            .optional()
            .describe("SHA-256 of a text's UTF-8, in hexadecimal"),
        }),
      )
      .min(1)
      .max(100_000)
      .optional()
      .describe(
        `vectors from outside; ${whose}. Without them the embedder of the pool is asked for all that lack`,
      ),
    seconds: z.int().min(1).max(3_600).optional().describe('the most seconds (default: 300)'),
  })
  .meta({ id: 'EmbedPoolRequest' });

const EmbedPoolAnswer = z
  .strictObject({
    position: z.string().describe('the position after it'),
    embedder: z.string(),
    dimension: count.nullable().describe('the numbers of each vector; null: none is recorded'),
    recorded: count.describe('texts that have a vector now and had none'),
    known: count.describe('texts that had one: the first counts'),
    missing: count.describe('messages of the pool that have none'),
  })
  .meta({ id: 'EmbedPoolAnswer' });

/** Asks that a runner makes rounds. */
const RequestRunRequest = z
  .strictObject({ id: commandId, ...by, ...limits, seconds: z.int().min(1).optional() })
  .meta({ id: 'RequestRunRequest' });

export const RequestedRunAnswer = z
  .strictObject({
    history: z.string(),
    branchId: count,
    run: z.string().describe('the id of the command that asked for it'),
    state: z.enum(['waiting', 'running', 'ended']),
    rounds: count,
    done: count,
    actor: z.string(),
    notes: z.string(),
    at: z.number().describe('milliseconds since 1970: when it was asked for'),
    checkpointEvery: count.nullable(),
    tokens: count.nullable(),
    cost: z.string().nullable(),
    seconds: count.nullable(),
    runner: z.string().nullable().describe('who makes its rounds, or made the last one'),
    ended: z
      .strictObject({
        how: z.enum(['rounds', 'tokens', 'cost', 'time', 'failed', 'stopped']),
        why: z.string(),
        code: z.string().nullable(),
        at: z.number(),
        by: z.string().nullable().describe('the actor who ended it; null: its runner did'),
        notes: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'RequestedRunAnswer' });

const runParams = historyParams.extend({ run: z.string().min(1).max(256) });
const found = ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NOT_A_POOL'] as const;
const recorded = [
  'E_ACTOR_INVALID',
  'E_NOTES_INVALID',
  'E_COMMAND_REUSED',
  'E_CONFLICT',
  'E_OUTCOME_UNKNOWN',
] as const;
const asked = [
  'E_POOL_TOO_SMALL',
  'E_MIND_INVALID',
  'E_MIND_NOT_ALLOWED',
  'E_MIND_KEY_MISSING',
  'E_BUSY',
] as const;

const embedding = [
  'E_EMBEDDER_INVALID',
  'E_MIND_NOT_ALLOWED',
  'E_MIND_KEY_MISSING',
  ...ENDPOINT_FAULTS,
  'E_EMBEDDING_INVALID',
  'E_BUSY',
] as const;

/** Endpoints of pools (docs/pools.md). What people do to any history, such as inject, fork and save, they do to pools. */
export const POOLS = {
  startPool: {
    method: 'POST',
    path: '/api/pools',
    summary: 'Starts a pool: a history from whose messages models are shown samples.',
    body: StartPoolRequest,
    answer: {
      kind: 'json',
      status: 201,
      schema: z.strictObject({ history: z.string(), seq: count, repeated: z.boolean() }),
    },
    errors: [
      'E_HISTORY_EXISTS',
      'E_NAME_INVALID',
      'E_CONFIG_INVALID',
      'E_MIND_INVALID',
      'E_CONTENT_TOO_LARGE',
      ...embedding,
      ...recorded,
    ],
  },
  embedPool: {
    method: 'POST',
    path: '/api/histories/{history}/pool/vectors',
    summary:
      'Records vectors of the texts of a pool: those that it is given, or those that the embedder of the pool gives to messages without one.',
    params: historyParams,
    body: EmbedPoolRequest,
    answer: { kind: 'json', status: 201, schema: EmbedPoolAnswer },
    errors: [...found, ...recorded, ...embedding, 'E_VECTORS', 'E_NODE_NOT_FOUND', 'E_USAGE'],
  },
  runPool: {
    method: 'POST',
    path: '/api/histories/{history}/pool/run',
    summary:
      'Makes rounds of a pool, and answers when they are done or why they are not. A client that goes cancels them; the next run goes on.',
    params: historyParams,
    body: RunPoolRequest,
    answer: { kind: 'json', status: 200, schema: RunPoolAnswer },
    errors: [...found, ...recorded, ...asked, 'E_EMBEDDER_INVALID'],
  },
  askPool: {
    method: 'POST',
    path: '/api/histories/{history}/pool/ask',
    summary:
      'Asks a model about a pool; nothing is added to it. Question and answer are recorded as an `external_query`.',
    params: historyParams,
    body: z
      .strictObject({
        id: commandId,
        ...by,
        question: z.string().min(1).max(1_000_000),
        mind: z.string().min(1).max(2_000).optional().describe('default: the first mind of the pool'),
        messages: z
          .int()
          .min(1)
          .optional()
          .describe('the newest messages that it is shown (default: the active ones)'),
        seconds: z.int().min(1).max(3_600).optional().describe('then it is cancelled (default: 300)'),
      })
      .meta({ id: 'AskPoolRequest' }),
    answer: {
      kind: 'json',
      status: 200,
      schema: z
        .strictObject({
          position: z.string(),
          mind: z.string(),
          answer: z.string(),
          messages: count,
          seq: count,
        })
        .meta({ id: 'AskPoolAnswer' }),
    },
    errors: [
      ...found,
      ...recorded,
      ...asked,
      'E_MIND_UNREACHABLE',
      'E_MIND_TIMEOUT',
      'E_MIND_BUSY',
      'E_MIND_FAILED',
      'E_MIND_REFUSED',
      'E_MIND_ANSWER_INVALID',
      'E_MIND_ANSWER_TOO_LARGE',
      'E_CANCELLED',
    ],
  },
  requestRun: {
    method: 'POST',
    path: '/api/histories/{history}/pool/runs',
    summary: 'Asks that a runner makes rounds of a pool, and answers when the request is recorded.',
    params: historyParams,
    body: RequestRunRequest,
    answer: { kind: 'json', status: 201, schema: RequestedRunAnswer },
    errors: [...found, ...recorded, 'E_CONFIG_INVALID'],
  },
  stopRun: {
    method: 'POST',
    path: '/api/histories/{history}/pool/runs/{run}/stop',
    summary: 'Ends a run; the round that is on its way is finished.',
    params: runParams,
    body: z.strictObject(by).meta({ id: 'StopRunRequest' }),
    answer: { kind: 'json', status: 200, schema: RequestedRunAnswer },
    errors: [...found, ...recorded, 'E_RUN_NOT_FOUND'],
  },
  resumeRun: {
    method: 'POST',
    path: '/api/histories/{history}/pool/runs/{run}/resume',
    summary: 'Asks for the rounds that a run did not come to, with the same limits.',
    params: runParams,
    body: z.strictObject({ id: commandId, ...by }).meta({ id: 'ResumeRunRequest' }),
    answer: { kind: 'json', status: 201, schema: RequestedRunAnswer },
    errors: [...found, ...recorded, 'E_RUN_NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>;
