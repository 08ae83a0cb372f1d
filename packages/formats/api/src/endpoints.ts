import type { StepRequest } from '@stemma/history';
import type { z } from 'zod';
import { Health, Readiness } from './answers.ts';
import { AUDIT } from './audit.ts';
import { BRANCHES, previewRequest } from './branches.ts';
import { CommandAnswer, commandRequest, CommandRequest, idempotent, StartRequest } from './commands.ts';
import { CORRECTIONS } from './corrections.ts';
import type { Endpoint } from './endpoint.ts';
import { EXCHANGES } from './exchanges.ts';
import { POOLS } from './pools.ts';
import { QUESTIONS } from './questions/all.ts';
import { RUNS } from './runs.ts';
import { STEERING } from './steering.ts';
import { RECORD_CALL } from './record-call.ts';
import { TRACES } from './traces.ts';
import { historyParams } from './values.ts';

/** What a client may ask a server to do, beside the commands of other files. */
const COMMANDS = {
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
    params: historyParams,
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
      'E_LABEL_INVALID',
      'E_CONFIG_INVALID',
      'E_SNAPSHOT_NOT_FOUND',
      'E_NOT_ON_ANCESTOR_PATH',
      'E_NAME_TAKEN',
      'E_FILE_GONE',
      'E_OUTCOME_UNKNOWN',
    ],
  },
} as const satisfies Record<string, Endpoint>;

/** Whether the server itself is well: no question of a home. */
const HEALTH = {
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
} as const satisfies Record<string, Endpoint>;

/** Every endpoint of the gateway, by the name the client calls it. A question is a file in `questions/`. */
export const ENDPOINTS = {
  ...QUESTIONS,
  ...COMMANDS,
  ...RECORD_CALL,
  ...CORRECTIONS,
  ...RUNS,
  ...STEERING,
  ...EXCHANGES,
  ...TRACES,
  ...AUDIT,
  ...BRANCHES,
  ...POOLS,
  ...HEALTH,
} as const satisfies Record<string, Endpoint>;

/** The endpoints as a server has them, which knows the steps of a command. */
export const servedEndpoints = (step: z.ZodType<StepRequest, StepRequest>): Endpoints => ({
  ...ENDPOINTS,
  command: { ...ENDPOINTS.command, body: commandRequest(step) },
  preview: { ...ENDPOINTS.preview, body: previewRequest(step) },
});

export type Endpoints = typeof ENDPOINTS;
export type EndpointName = keyof Endpoints;

/** Endpoints that have a property of the contract. */
type Having<Property> = {
  [Name in EndpointName]: Endpoints[Name] extends Property ? Name : never;
}[EndpointName];

/** Endpoints whose answers are made as the client takes them. */
export type StreamedName = Having<{ readonly streamed: true }>;
/** Those of them that answer with messages of a live stream. */
export type StreamName = Having<{ readonly answer: { readonly kind: 'stream' } }>;

const namesWith = (property: 'heavy' | 'streamed'): ReadonlySet<EndpointName> =>
  new Set(
    (Object.entries(ENDPOINTS) as [EndpointName, Endpoint][])
      .filter(([, endpoint]) => endpoint[property] === true)
      .map(([name]) => name),
  );

/** The names of all that may take more than a moment. */
export const HEAVY = namesWith('heavy');
const STREAMED = namesWith('streamed');
export const isStreamedName = (name: EndpointName): name is StreamedName => STREAMED.has(name);
