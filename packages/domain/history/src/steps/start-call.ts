import { fail } from '@stemma/errors';
import {
  CALL_APIS,
  CallAddress,
  CallFidelity,
  PromptSummary,
  RecordedBody,
  SentRequest,
  SteeringChange,
  type HistoryEvent,
} from '@stemma/events';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { checkedInCall, refuseBody, refuseLater } from '../decide/call-bodies.ts';
import type { PendingFrame } from '../decide/pending-frame.ts';
import { positionOf } from '../decide/positions.ts';
import { count, head, json, object, position } from './fields.ts';
import { defineStep } from './step.ts';

const steered = z.strictObject({
  request: RecordedBody.nullable(),
  own: z.string().nullable(),
  changes: z.array(SteeringChange).max(100_000),
  unsteered: z.string().max(1024).nullable(),
});

/**
 * Records that a model is called with a position: after a commit in the same command with its snapshot, else with the branch's tip
 * unless another is given. `tools` null: those of the event `toolsAt`, if any. `own`: the own bytes of `request`, encoded as it
 * says. The id of the command is the attempt's. At most one in a command (calls §1).
 *
 * @throws E_COMMAND_INVALID for a second call in one command, or a body whose pieces are not its bytes; E_SNAPSHOT_NOT_FOUND
 */
export const startCall = defineStep({
  op: 'start_call',
  schema: z.strictObject({
    op: z.literal('start_call'),
    position: position.optional(),
    api: z.enum(CALL_APIS),
    model: z.string().max(512).nullable(),
    parameters: object,
    tools: z.array(json).nullable(),
    toolsAt: z.strictObject({ seq: count, index: count }).nullable(),
    request: RecordedBody.nullable(),
    /** How the next call is found; without it nobody looks for it. */
    prompt: PromptSummary.nullable().optional(),
    own: z.string().nullable(),
    /** How it goes out; without it nobody saw that. */
    sent: SentRequest.extend({
      origin: z.string().max(512).nullable(),
      path: z.string().max(2_048).nullable(),
      contentType: head,
      coding: head,
    })
      .nullable()
      .optional(),
    /** What else is known of where it belongs. */
    place: z
      .strictObject({
        /** The call whose messages its provider has kept, and shows the model before those of this one. */
        kept: CallAddress.optional(),
        /** The attempt whose recorded answer it goes on from. */
        follows: z.string().max(512).optional(),
        /** A hash of the session that its client named. */
        session: z
          .string()
          .regex(/^[0-9a-f]{32}$/)
          .optional(),
        /** The run of a program that made it, if its scope does not say so. */
        run: z.string().min(1).max(256).optional(),
        /** A call of a conversation that it may continue: nothing of it is here, and nobody knows. */
        mayContinue: CallAddress.optional(),
      })
      .optional(),
    /** Of a call that a file told of: how true its picture is. */
    fidelity: CallFidelity.optional(),
    /** The request is not kept, as nobody could surely take secrets out of it. */
    withheld: z.literal(true).optional(),
    /** If observers steer the branch: the request as it came, and what of theirs is in it as it goes (calls §5). */
    steered: steered.optional(),
  }),
  on: 'its branch',
  kind: 'run',
  along: true,
  afterSnapshot: true,
  withheld: ({ withheld }) => (withheld === true ? ['request'] : []),
  secrets: {
    model: { as: 'model' },
    parameters: { as: 'data_parameters' },
    tools: { as: 'data_tools' },
    sent: { as: 'sent' },
    // Bodies are redacted before they are encoded.
    request: 'none',
    own: 'none',
    steered: 'none',
    position: 'none',
    api: 'none',
    toolsAt: 'none',
    prompt: 'none',
    place: 'none',
    fidelity: 'none',
    withheld: 'none',
  },
  *decide(pending, step) {
    if (pending.events.some(({ type }) => type === 'CallStarted'))
      throw fail('E_COMMAND_INVALID', 'a command starts more than one call');
    const { api, model, parameters, tools, toolsAt, request, own, place, prompt = null, sent = null } = step;
    refuseLater(pending, toolsAt, 'the tools of the call');
    refuseBody(pending, request, own);
    const at = positionOf(pending, step.position);
    const state =
      step.position === undefined ? pending.branch : pending.sources.position(at.branchId, at.seq);
    yield {
      type: 'CallStarted',
      attemptId: pending.command,
      ...at,
      cycle: state.tree.cycle,
      api,
      model,
      toolsAt: tools === null ? toolsAt : { seq: pending.seq, index: pending.events.length },
      request,
      prompt,
      sent,
      payload: {
        data_parameters: checkedInCall(parameters, 'the parameters'),
        ...(tools === null ? {} : { data_tools: checkedInCall(tools, 'the tools') }),
        ...defined({ data_place: place, data_fidelity: step.fidelity, data_own: own ?? undefined }),
      },
    };
    if (step.steered !== undefined) yield callSteered(pending, step.steered);
  },
});

const callSteered = (
  pending: PendingFrame,
  { request, own, changes, unsteered }: z.infer<typeof steered>,
): HistoryEvent => {
  refuseBody(pending, request, own);
  for (const { seq } of changes) refuseLater(pending, { seq }, 'a change of an observer');
  return {
    type: 'CallSteered',
    attemptId: pending.command,
    request,
    changes,
    unsteered,
    payload: own === null ? {} : { data_own: own },
  };
};
