import { z } from 'zod';
import { callApi } from './attempts.ts';
import { CommandAnswer } from './commands.ts';
import type { Endpoint } from './endpoint.ts';
import { count, historyParams, milliseconds } from './values.ts';

/** The longest time that a call is held, and the one that holds unless another is given: ten minutes. */
const MAX_TIMEOUT = 86_400_000;
const TIMEOUT = 600_000;

const actor = z.string().min(1).max(1_024).describe('the person who acts, at most 256 bytes');
const notes = z.string().optional().describe('the reason, at most 64 KiB');
const condition = z.string().min(1).max(10_000).optional();
export const name = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

export const conditions = {
  when: condition.describe('a selector that matches a node of the tree as it would be sent'),
  cycle: z.int().min(1).optional().describe('the cycle that the call would be of'),
  model: condition.describe('the name of a model, or the beginning of one and *'),
  tool: condition.describe('the call brings a call of this tool'),
  changed: condition.describe(
    'a selector: what it matches has changed since the newest snapshot, or over its range',
  ),
} as const;
/** When a call is held before it goes out: where all conditions are true. */
export const BreakpointRequest = z
  .strictObject({
    actor,
    notes,
    name: name.optional().describe('its name (default: b1, b2 …)'),
    ...conditions,
    timeout_ms: z.int().min(1).max(MAX_TIMEOUT).default(TIMEOUT).optional(),
    then: z.enum(['go-on', 'abort']).default('go-on').optional(),
  })
  .meta({ id: 'BreakpointRequest' });
export type BreakpointRequest = z.infer<typeof BreakpointRequest>;

const ActRequest = z.strictObject({ actor, notes }).meta({ id: 'ActRequest' });

const HeldCallAnswer = z
  .strictObject({
    history: z.string(),
    branch: z.string(),
    branchId: count,
    attempt_id: z.string(),
    seq: count.describe('the position that shows what the model would be shown'),
    cycle: count,
    api: callApi,
    model: z.string().nullable(),
    breakpoints: z.array(z.string()).describe('those that hold it'),
    since: milliseconds,
    until: milliseconds,
    then: z.enum(['go-on', 'abort']),
    released: z
      .strictObject({
        at: milliseconds,
        how: z.enum(['resumed', 'edited', 'aborted', 'timed out', 'cancelled', 'lost']),
        by: z.string().nullable(),
        message: z.string().nullable(),
      })
      .nullable()
      .describe('null while it waits'),
  })
  .meta({ id: 'HeldCall' });
export type HeldCallAnswer = z.infer<typeof HeldCallAnswer>;

export const heldCalls = z.strictObject({ calls: z.array(HeldCallAnswer) });
const NOT_FOUND = ['E_HISTORY_NOT_FOUND', 'E_BRANCH_NOT_FOUND'] as const;
const REFUSED = ['E_ACTOR_REQUIRED', 'E_ACTOR_INVALID', 'E_NOTES_INVALID', 'E_OUTCOME_UNKNOWN'] as const;

/** Endpoints of calls that observers steer (docs/recording.md). */
export const STEERING = {
  steer: {
    method: 'POST',
    path: '/api/histories/{history}/steer',
    summary: 'Turns the mode `steer` of a branch on or off: its calls go out with the changes of observers.',
    params: historyParams,
    body: ActRequest.extend({ on: z.boolean() }).meta({ id: 'SteerRequest' }),
    answer: { kind: 'json', status: 200, schema: CommandAnswer },
    errors: [...NOT_FOUND, ...REFUSED],
  },
  addBreakpoint: {
    method: 'POST',
    path: '/api/histories/{history}/breakpoints',
    summary:
      'Sets a breakpoint: a call of the branch is held before it goes out where its conditions are true.',
    params: historyParams,
    body: BreakpointRequest,
    answer: { kind: 'json', status: 201, schema: z.strictObject({ name }) },
    errors: [...NOT_FOUND, 'E_SELECTOR_INVALID', 'E_CONFIG_INVALID', ...REFUSED],
  },
  removeBreakpoint: {
    method: 'POST',
    path: '/api/histories/{history}/breakpoints/{name}/remove',
    summary: 'Removes a breakpoint. Calls that it holds wait on.',
    params: historyParams.extend({ name: z.string().min(1).max(200) }),
    body: ActRequest,
    answer: { kind: 'json', status: 200, schema: CommandAnswer },
    errors: [...NOT_FOUND, 'E_BREAKPOINT_NOT_FOUND', ...REFUSED],
  },
  release: {
    method: 'POST',
    path: '/api/histories/{history}/held/{attempt}/release',
    summary:
      'Lets a held call go on, with what its branch shows now; with `abort` it is not sent, and its client is told so.',
    params: historyParams.extend({ attempt: z.string().min(1).max(600) }),
    body: ActRequest.extend({
      abort: z.boolean().optional(),
      message: z.string().max(4_096).optional().describe('what the client is told'),
    }).meta({ id: 'ReleaseRequest' }),
    answer: { kind: 'json', status: 200, schema: HeldCallAnswer },
    errors: ['E_HISTORY_NOT_FOUND', 'E_CALL_NOT_HELD', ...REFUSED],
  },
} as const satisfies Record<string, Endpoint>;

type HeldFacts = Readonly<Omit<HeldCallAnswer, 'attempt_id' | 'breakpoints' | 'released'>> & {
  readonly attemptId: string;
  readonly breakpoints: readonly string[];
  readonly released: Readonly<NonNullable<HeldCallAnswer['released']>> | null;
};

/** A held call as the contract has it. */
export const heldCallAnswer = (call: HeldFacts): HeldCallAnswer => ({
  history: call.history,
  branch: call.branch,
  branchId: call.branchId,
  attempt_id: call.attemptId,
  seq: call.seq,
  cycle: call.cycle,
  api: call.api,
  model: call.model,
  breakpoints: [...call.breakpoints],
  since: call.since,
  until: call.until,
  then: call.then,
  released:
    call.released === null
      ? null
      : {
          at: call.released.at,
          how: call.released.how,
          by: call.released.by,
          message: call.released.message,
        },
});

/** What a request says of a breakpoint, without who sets it. */
export const breakpointOf = ({
  actor: _actor,
  notes: _notes,
  name: _name,
  timeout_ms = TIMEOUT,
  then = 'go-on',
  ...given
}: BreakpointRequest) => ({ ...given, timeout_ms, then });
