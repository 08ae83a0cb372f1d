import type { StepRequest } from '@stemma/history';
import { z } from 'zod';
import { LoggedEventAnswer } from './logged.ts';
import { PositionAnswer } from './summaries.ts';
import { anyJson, count } from './values.ts';

/** The most steps of a command, and the most messages of a call. */
export const MAX_ITEMS = 100_000;

const object = z.record(z.string(), anyJson);
const id = z.string().min(1);

/** A step as far as a client has to know it: the server knows the steps, and says what is wrong with one. */
export const anyStep = z.looseObject({ op: z.string() }).meta({ id: 'Step' }) as unknown as z.ZodType<
  StepRequest,
  StepRequest
>;

/** How a request is made repeatable and conditional. */
export const idempotent =
  'The headers `Idempotency-Key` and `If-Match` (a `seq`) stand for `id` and `expected`.';

export const commandId = z
  .string()
  .min(1)
  .max(256)
  .describe('an id made by the client; the same command sent twice has one effect and the same answer');

/** Who writes: a recorder its own record, or an actor, with why. One of the two. */
export const who = {
  recorder: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('the agent or program that records its own context'),
  actor: z.string().min(1).max(1_024).optional().describe('the person who acts, at most 256 bytes'),
  notes: z.string().optional().describe('the reason of the actor, at most 64 KiB'),
} as const;

/** What the client took out of what it sends: recorded with it. */
const redactions = z
  .array(
    z.strictObject({
      step: count.nullable().describe('the index of the step, in a call of the message; null for the notes'),
      node: z
        .union([count, id.max(512)])
        .nullable()
        .describe('the id of a node, or its index among those that the step brings'),
      field: z.string().max(512),
      rule: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/),
      count: z.int().min(1),
    }),
  )
  .max(100_000)
  .optional()
  .describe('what the client took out: rule, place and number; never what it was');

/** Steps in order, all or none. */
export const commandRequest = (step: z.ZodType<StepRequest, StepRequest>) =>
  z
    .strictObject({
      id: commandId,
      ...who,
      expected: count.optional().describe('the newest frame that the branch must have; else E_CONFLICT'),
      steps: z.array(step).min(1).max(MAX_ITEMS),
      redactions,
    })
    .meta({ id: 'CommandRequest' });
export const CommandRequest = commandRequest(anyStep);
export type CommandRequest = z.infer<typeof CommandRequest>;

/** The message list that is about to be sent, whole, as the chat completions API takes it. */
export const CallRequest = z
  .strictObject({
    id: commandId,
    ...who,
    expected: count.optional().describe('the newest frame that the branch must have; else E_CONFLICT'),
    messages: z.array(object).max(MAX_ITEMS),
    redactions,
  })
  .meta({ id: 'CallRequest' });
export type CallRequest = z.infer<typeof CallRequest>;

/** An empty history. Its id derives from its name, or, without one, from the command's id. */
export const StartRequest = z
  .strictObject({
    id: commandId,
    ...who,
    name: z.string().nullable().optional(),
    thread: z
      .enum(['full', 'pre'])
      .optional()
      .describe('the part of the tree in the provider thread (default: full)'),
    erasable: z
      .strictObject({ subject: z.string().min(1).max(256).nullable() })
      .optional()
      .describe('frames are sealed under a key of the history, which the step erase destroys'),
  })
  .meta({ id: 'StartRequest' });
export type StartRequest = z.infer<typeof StartRequest>;

/** What became of a command. `repeated`: it had been accepted before, and nothing was written now. */
export const CommandAnswer = z
  .strictObject({
    position: PositionAnswer,
    repeated: z.boolean(),
    events: z.array(LoggedEventAnswer.shape.event),
  })
  .meta({ id: 'CommandAnswer' });
export type CommandAnswer = z.infer<typeof CommandAnswer>;

/** What became of a call, and how many messages stayed, were rewritten, went and came. */
export const CallAnswer = CommandAnswer.extend({
  kept: count,
  replaced: count,
  removed: count,
  inserted: count,
}).meta({ id: 'CallAnswer' });
export type CallAnswer = z.infer<typeof CallAnswer>;
