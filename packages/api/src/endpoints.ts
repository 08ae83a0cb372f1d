import { z } from 'zod';
import { Health, Selection, Stats, VerifyStatus } from './answers.ts';
import { AUDIT } from './audit.ts';
import { BRANCHES } from './branches.ts';
import { CAUSES } from './causes.ts';
import { CommandAnswer, CommandRequest, idempotent, StartRequest } from './commands.ts';
import { CTREES } from './ctrees.ts';
import { Doctor } from './doctor.ts';
import type { Endpoint } from './endpoint.ts';
import { EventPage, StreamMessage } from './logged.ts';
import { QUESTIONS } from './questions.ts';
import { RANGES } from './range.ts';
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
    summary: 'The histories, the one that changed last first.',
    query: z.strictObject({
      limit: optionalWhole('at most 500; 100 unless said'),
      skip: optionalWhole('so many are left out at the front'),
    }),
    answer: { kind: 'json', status: 200, schema: HistoryPage },
    errors: [],
  },
  history: {
    method: 'GET',
    path: '/api/histories/{history}',
    summary: 'One history with its branches.',
    params: history,
    answer: { kind: 'json', status: 200, schema: HistorySummaryAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND'],
  },
  snapshots: {
    method: 'GET',
    path: '/api/histories/{history}/snapshots',
    summary: 'A page of the snapshots on the ancestor path of a branch, newest first.',
    params: history,
    query: z.strictObject({
      limit: optionalWhole('at most 200; 50 unless said'),
      before: optionalWhole('only cycles below this one'),
    }),
    answer: { kind: 'json', status: 200, schema: SnapshotPage },
    errors: ['E_HISTORY_NOT_FOUND', 'E_HISTORY_AMBIGUOUS', 'E_BRANCH_NOT_FOUND'],
  },
  tree: {
    method: 'GET',
    path: '/api/histories/{history}/tree',
    summary: 'The tree at a position: its nodes in document order, what is new in it, and what has left it.',
    params: history,
    query: z.strictObject({
      at,
      skip: optionalWhole('index of the first node; 0 unless said'),
      limit: optionalWhole('so many nodes from there; at most 20,000; 2,000 unless said'),
      tail: optionalWhole('and so many at the end, where the newest are; at most 20,000'),
      excerpt: optionalWhole('characters of each content; at most 100,000; 2,000 unless said'),
    }),
    answer: { kind: 'json', status: 200, schema: TreePage },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  },
  node: {
    method: 'GET',
    path: '/api/histories/{history}/nodes/{node}',
    summary: 'One node at a position: every header, and its content whole.',
    params: history.extend({ node: z.string().min(1).max(2048) }),
    query: z.strictObject({ at }),
    answer: { kind: 'json', status: 200, schema: NodeDetail },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND', 'E_NODE_NOT_FOUND'],
  },
  thread: {
    method: 'GET',
    path: '/api/histories/{history}/thread',
    summary:
      "The provider thread at a position, byte for byte; with `provider`, the message list as that provider's API takes it.",
    params: history,
    query: z.strictObject({ at, provider: z.enum(['openai']).optional() }),
    answer: { kind: 'bytes', mime: 'application/json', describe: 'canonical JSON; with `provider`, JSON' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  },
  export: {
    method: 'GET',
    path: '/api/histories/{history}/export',
    summary: 'The export of the tree at a position, byte for byte.',
    params: history,
    query: z.strictObject({ at }),
    answer: { kind: 'bytes', mime: 'application/json', describe: 'canonical JSON' },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SNAPSHOT_NOT_FOUND'],
  },
  select: {
    method: 'GET',
    path: '/api/histories/{history}/select',
    summary: 'The ids that a selector matches, in document order. The selector may begin with a reference.',
    params: history,
    query: z.strictObject({
      selector: z.string().min(1).max(10_000),
      limit: optionalWhole('so many ids'),
      skip: optionalWhole('so many are left out at the front'),
    }),
    answer: { kind: 'json', status: 200, schema: Selection },
    errors: ['E_HISTORY_NOT_FOUND', 'E_SELECTOR_INVALID', 'E_SNAPSHOT_NOT_FOUND'],
  },
  ...CAUSES,
  ...QUESTIONS,
  ...AUDIT,
  ...BRANCHES,
  ...RANGES,
  events: {
    method: 'GET',
    path: '/api/histories/{history}/events',
    summary: 'The accepted events of a history, oldest first, whole frames at a time.',
    params: history,
    query: z.strictObject({
      from: optionalWhole('the first frame; 0 unless said'),
      limit: optionalWhole('so many events or a few more; at most 1,000; 100 unless said'),
      node: z
        .string()
        .min(1)
        .max(2048)
        .optional()
        .describe('only the events about this node, in all branches'),
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
    errors: ['E_HISTORY_EXISTS', 'E_NAME_INVALID', 'E_COMMAND_REUSED', 'E_OUTCOME_UNKNOWN'],
  },
  command: {
    method: 'POST',
    path: '/api/histories/{history}/commands',
    summary: `Does steps to a branch, all or none: a recorder's own record, or an act of an actor. Answers when it is durable. ${idempotent}`,
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
      'E_OUTCOME_UNKNOWN',
    ],
  },
  stream: {
    method: 'GET',
    path: '/api/events',
    summary:
      'New events as they are accepted, as server-sent events. Resumes behind `Last-Event-ID` (or `after`).',
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
    summary: 'Sizes and counts of the log, the rows and the contents.',
    answer: { kind: 'json', status: 200, schema: Stats },
    errors: [],
  },
  doctor: {
    method: 'GET',
    path: '/api/doctor',
    summary: 'What state the log and the rows are in, and what should be looked at.',
    answer: { kind: 'json', status: 200, schema: Doctor },
    errors: ['E_BROKERS_UNREACHABLE'],
  },
  verify: {
    method: 'GET',
    path: '/api/verify',
    summary: 'Which histories are damaged or defective, as far as has been read.',
    answer: { kind: 'json', status: 200, schema: VerifyStatus },
    errors: [],
  },
  healthLive: {
    method: 'GET',
    path: '/health/live',
    summary: 'The process is alive.',
    answer: { kind: 'json', status: 200, schema: Health },
    errors: [],
  },
  healthReady: {
    method: 'GET',
    path: '/health/ready',
    summary: 'It can answer questions; 503 with the reason while it cannot, and when it is about to end.',
    answer: { kind: 'json', status: 200, schema: Health },
    errors: ['E_BUSY', 'E_BROKERS_UNREACHABLE'],
  },
  ...CTREES,
} as const satisfies Record<string, Endpoint>;

export type Endpoints = typeof ENDPOINTS;
export type EndpointName = keyof Endpoints;
/** Endpoints that answer with messages of a live stream. */
export type StreamName = 'stream' | 'ctreesStream' | 'watch';
