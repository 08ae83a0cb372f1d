import type { StepRequest } from '@stemma/history';
import { z } from 'zod';
import { Health, Readiness, Selection, SignedCheckpoint, Stats, VerifyStatus } from './answers.ts';
import { AUDIT } from './audit.ts';
import { BRANCHES, previewRequest } from './branches.ts';
import { CAUSES } from './causes.ts';
import { CommandAnswer, commandRequest, CommandRequest, idempotent, StartRequest } from './commands.ts';
import { CORRECTIONS } from './corrections.ts';
import { CTREES } from './ctrees.ts';
import { Doctor } from './doctor.ts';
import type { Endpoint } from './endpoint.ts';
import { EXCHANGES } from './exchanges.ts';
import { EventPage, StreamMessage } from './logged.ts';
import { ATTEMPTS } from './attempts.ts';
import { POOL_MAP } from './pool-map.ts';
import { POOLS } from './pools.ts';
import { QUESTIONS } from './questions.ts';
import { RANGES } from './range.ts';
import { RUNS } from './runs.ts';
import { SEARCH } from './search.ts';
import { STEERING } from './steering.ts';
import { HistoryPage, HistorySummaryAnswer, SnapshotPage } from './summaries.ts';
import { NodeDetail, TreePage } from './tree.ts';
import { historyParam, reference, wholeInQuery } from './values.ts';

const optionalWhole = (describe: string) => wholeInQuery.optional().describe(describe);
const history = z.strictObject({ history: historyParam });
const at = reference.optional();

/** Every endpoint of the gateway, by the name the client calls it. A new one is one entry here and one handler there. */
export const ENDPOINTS = {
  histories: {
    method: 'GET',
    path: '/api/histories',
    summary: 'Lists the histories, the last changed first.',
    query: z.strictObject({
      limit: optionalWhole('the most to return, at most 500 (default: 100)'),
      skip: optionalWhole('the number to skip first (default: 0)'),
      name: z
        .string()
        .min(1)
        .max(600)
        .optional()
        .describe('a text in the name, upper and lower case alike, or the beginning of the id'),
      since: optionalWhole('only those that changed at this time or later, in milliseconds since 1970'),
    }),
    answer: { kind: 'json', status: 200, schema: HistoryPage },
    errors: [],
  },
  history: {
    method: 'GET',
    path: '/api/histories/{history}',
    summary: 'Returns one history with its branches.',
    params: history,
    answer: { kind: 'json', status: 200, schema: HistorySummaryAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND'],
  },
  snapshots: {
    method: 'GET',
    path: '/api/histories/{history}/snapshots',
    summary: 'Lists the snapshots on the ancestor path of a branch, newest first, a page at a time.',
    params: history,
    query: z.strictObject({
      limit: optionalWhole('the most to return, at most 200 (default: 50)'),
      before: optionalWhole('the cycle that all are older than'),
    }),
    answer: { kind: 'json', status: 200, schema: SnapshotPage },
    errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND'],
  },
  tree: {
    method: 'GET',
    path: '/api/histories/{history}/tree',
    summary:
      'Returns the tree at a position: its nodes in document order, with what is new, changed and removed.',
    params: history,
    query: z.strictObject({
      at,
      skip: optionalWhole('the index of the first node (default: 0)'),
      limit: optionalWhole('the most nodes to return, at most 20,000 (default: 2,000)'),
      tail: optionalWhole(
        'the number of nodes to add from the end, where the newest are; at most 20,000 (default: 0)',
      ),
      excerpt: optionalWhole('characters of each content, at most 100,000 (default: 2,000)'),
    }),
    answer: { kind: 'json', status: 200, schema: TreePage },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  },
  node: {
    method: 'GET',
    path: '/api/histories/{history}/nodes/{node}',
    summary: 'Returns one node at a position, with every header and its whole content.',
    params: history.extend({ node: z.string().min(1).max(2048) }),
    query: z.strictObject({ at }),
    answer: { kind: 'json', status: 200, schema: NodeDetail },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  },
  thread: {
    method: 'GET',
    path: '/api/histories/{history}/thread',
    summary:
      "Returns the provider thread at a position, byte for byte; with `provider`, the message list for that provider's API.",
    params: history,
    query: z.strictObject({ at, provider: z.enum(['openai']).optional() }),
    answer: { kind: 'bytes', mime: 'application/json', describe: 'canonical JSON; with `provider`, JSON' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  },
  export: {
    method: 'GET',
    path: '/api/histories/{history}/export',
    summary: 'Returns the export of the tree at a position, byte for byte.',
    params: history,
    query: z.strictObject({ at }),
    answer: { kind: 'bytes', mime: 'application/json', describe: 'canonical JSON' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  },
  select: {
    method: 'GET',
    path: '/api/histories/{history}/select',
    summary:
      'Lists the ids that a selector matches, in document order. The selector may begin with a reference.',
    params: history,
    query: z.strictObject({
      selector: z.string().min(1).max(10_000),
      limit: optionalWhole('the most ids to return (default: all)'),
      skip: optionalWhole('the number to skip first (default: 0)'),
    }),
    answer: { kind: 'json', status: 200, schema: Selection },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SELECTOR_INVALID', 'E_SNAPSHOT_NOT_FOUND'],
  },
  ...CAUSES,
  ...QUESTIONS,
  ...ATTEMPTS,
  ...CORRECTIONS,
  ...SEARCH,
  ...RUNS,
  ...STEERING,
  ...EXCHANGES,
  ...AUDIT,
  ...BRANCHES,
  ...RANGES,
  events: {
    method: 'GET',
    path: '/api/histories/{history}/events',
    summary: 'Lists the accepted events of a history, oldest first, in whole frames.',
    params: history,
    query: z.strictObject({
      from: optionalWhole('the first frame (default: 0)'),
      limit: optionalWhole('the events to return, rounded up to a whole frame; at most 1,000 (default: 100)'),
      node: z
        .string()
        .min(1)
        .max(2048)
        .optional()
        .describe('the node whose events are listed, in all branches (default: all nodes)'),
    }),
    answer: { kind: 'json', status: 200, schema: EventPage },
    errors: ['E_HISTORY_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  },
  start: {
    method: 'POST',
    path: '/api/histories',
    summary: 'Starts an empty history.',
    body: StartRequest,
    answer: { kind: 'json', status: 201, schema: CommandAnswer },
    errors: ['E_HISTORY_EXISTS', 'E_NAME_INVALID', 'E_COMMAND_REUSED', 'E_FILE_GONE', 'E_OUTCOME_UNKNOWN'],
  },
  command: {
    method: 'POST',
    path: '/api/histories/{history}/commands',
    summary: `Applies steps to a branch, all or none, for a recorder or an actor. Answers when they are durable. ${idempotent}`,
    params: history,
    body: CommandRequest,
    answer: { kind: 'json', status: 200, schema: CommandAnswer },
    errors: [
      'E_HISTORY_NOT_FOUND',
      'E_CONFLICT',
      'E_COMMAND_REUSED',
      'E_COMMAND_INVALID',
      'E_NODE_INVALID',
      'E_NODE_NOT_FOUND',
      'E_NODE_EXISTS',
      'E_PLACEMENT',
      'E_TWO_CORES',
      'E_SEALED',
      'E_HEADER_IMMUTABLE',
      'E_CONTENT_TOO_LARGE',
      'E_ACTOR_REQUIRED',
      'E_ACTOR_INVALID',
      'E_NOTES_INVALID',
      'E_CONFIG_INVALID',
      'E_SNAPSHOT_NOT_FOUND',
      'E_NOT_ON_ANCESTOR_PATH',
      'E_NAME_TAKEN',
      'E_FILE_GONE',
      'E_OUTCOME_UNKNOWN',
    ],
  },
  stream: {
    method: 'GET',
    path: '/api/events',
    summary:
      'Streams newly accepted events as server-sent events. Resumes after `Last-Event-ID` (or `after`).',
    query: z.strictObject({
      history: historyParam.optional(),
      after: z.string().min(1).max(8192).optional().describe('a cursor: the `id` of a message'),
    }),
    answer: {
      kind: 'stream',
      message: StreamMessage,
      describe:
        'messages `event: events`, each with the cursor as its `id`; a comment every 15 s when nothing happens; ' +
        '`event: end` with an error when the server ends the stream',
    },
    errors: ['E_STREAM_GONE', 'E_HISTORY_NOT_FOUND', 'E_BUSY'],
  },
  stats: {
    method: 'GET',
    path: '/api/stats',
    summary: 'Returns sizes and counts of the log, the rows and the contents.',
    answer: { kind: 'json', status: 200, schema: Stats },
    errors: [],
  },
  doctor: {
    method: 'GET',
    path: '/api/doctor',
    summary: 'Checks the log and the rows and lists findings.',
    answer: { kind: 'json', status: 200, schema: Doctor },
    errors: ['E_BROKERS_UNREACHABLE'],
  },
  checkpoint: {
    method: 'GET',
    path: '/api/checkpoint',
    summary: 'Signs what the log holds now; `stemma verify --since` shows later that it only grew.',
    answer: { kind: 'json', status: 200, schema: SignedCheckpoint },
    errors: ['E_PARTITION_CLOSED', 'E_KEY_INVALID', 'E_FILE_GONE', 'E_BROKERS_UNREACHABLE'],
  },
  verify: {
    method: 'GET',
    path: '/api/verify',
    summary: 'Lists the damaged and defective histories in the part of the log read so far.',
    answer: { kind: 'json', status: 200, schema: VerifyStatus },
    errors: [],
  },
  healthLive: {
    method: 'GET',
    path: '/health/live',
    summary: 'Returns 200 while the process runs.',
    answer: { kind: 'json', status: 200, schema: Health },
    errors: [],
  },
  healthReady: {
    method: 'GET',
    path: '/health/ready',
    summary:
      'Returns 200 while the service can answer, with what it has still to record; 503 with the reason while it cannot or shuts down.',
    answer: { kind: 'json', status: 200, schema: Readiness },
    errors: ['E_BUSY', 'E_BROKERS_UNREACHABLE', 'E_IO', 'E_ROWS_UNWRITABLE'],
  },
  ...POOLS,
  ...POOL_MAP,
  ...CTREES,
} as const satisfies Record<string, Endpoint>;

/** The endpoints as a server has them, which knows the steps of a command. */
export const servedEndpoints = (step: z.ZodType<StepRequest, StepRequest>): Endpoints => ({
  ...ENDPOINTS,
  command: { ...ENDPOINTS.command, body: commandRequest(step) },
  preview: { ...ENDPOINTS.preview, body: previewRequest(step) },
});

export type Endpoints = typeof ENDPOINTS;
export type EndpointName = keyof Endpoints;
/** Endpoints that answer with messages of a live stream. */
export type StreamName = 'stream' | 'ctreesStream' | 'watch';
