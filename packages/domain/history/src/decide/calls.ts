import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { isBodyKept, type RecordedBody } from '@stemma/events';
import type { StepOf } from '../command.ts';
import { checkValue } from '@stemma/context-tree';
import { checkNotes } from '../texts.ts';
import { positionOf } from './configure.ts';
import { emit, type PendingFrame } from './pending-frame.ts';

/**
 * Records that a model is called with a position (calls §1).
 *
 * @throws E_COMMAND_INVALID for a second call in one command, or a body whose pieces are not its bytes; E_SNAPSHOT_NOT_FOUND
 */
export const decideStartCall = (pending: PendingFrame, step: StepOf<'start_call'>): void => {
  if (pending.events.some(({ type }) => type === 'CallStarted'))
    throw fail('E_COMMAND_INVALID', 'a command starts more than one call');
  const { api, model, parameters, tools, toolsAt, request, own, prompt = null, sent = null } = step;
  refuseLater(pending, toolsAt, 'the tools of the call');
  refuseBody(pending, request, own);
  const position = positionOf(pending, step.position);
  const state =
    step.position === undefined ? pending.branch : pending.sources.position(position.branchId, position.seq);
  emit(pending, {
    type: 'CallStarted',
    attemptId: pending.command,
    ...position,
    cycle: state.tree.cycle,
    api,
    model,
    toolsAt: tools === null ? toolsAt : { seq: pending.seq, index: pending.events.length },
    request,
    prompt,
    sent,
    payload: {
      data_parameters: checked(parameters, 'the parameters'),
      ...(tools === null ? {} : { data_tools: checked(tools, 'the tools') }),
      ...(own === null ? {} : { data_own: own }),
    },
  });
  if (step.steered !== undefined) steerCall(pending, step.steered);
};

const steerCall = (pending: PendingFrame, steered: NonNullable<StepOf<'start_call'>['steered']>): void => {
  const { request, own, changes, unsteered } = steered;
  refuseBody(pending, request, own);
  for (const { seq } of changes) refuseLater(pending, { seq }, 'a change of an observer');
  emit(pending, {
    type: 'CallSteered',
    attemptId: pending.command,
    request,
    changes,
    unsteered,
    payload: own === null ? {} : { data_own: own },
  });
};

/**
 * Records that a call waits before it goes out.
 *
 * @throws E_COMMAND_INVALID
 */
export const decideHoldCall = (pending: PendingFrame, step: StepOf<'hold_call'>): void => {
  const { op: _op, attemptId, ...rest } = step;
  if (pending.command !== holdOf(attemptId))
    throw fail('E_COMMAND_INVALID', `the command that holds a call must have the id ${holdOf(attemptId)}`);
  const position = positionOf(pending, undefined);
  emit(pending, { type: 'CallHeld', attemptId, ...position, cycle: pending.branch.tree.open, ...rest });
};

/**
 * Records that a held call waits no longer. It is released once, since the id of the command that says so follows from the
 * attempt's.
 *
 * @throws E_CALL_NOT_HELD, E_COMMAND_INVALID
 */
export const decideReleaseCall = (pending: PendingFrame, step: StepOf<'release_call'>): void => {
  const { attemptId, how, message } = step;
  if (pending.command !== releaseOf(attemptId))
    throw fail(
      'E_COMMAND_INVALID',
      `the command that releases a call must have the id ${releaseOf(attemptId)}`,
    );
  if (pending.lookups.command(holdOf(attemptId)) === undefined)
    throw fail('E_CALL_NOT_HELD', `no call ${attemptId} of this history was held`, { attempt: attemptId });
  emit(pending, {
    type: 'CallReleased',
    attemptId,
    how,
    message: message === null ? null : checkNotes(message, 'the message'),
  });
};

/** The ids of the commands that hold an attempt, and release it. */
export const holdOf = (attemptId: string): string => `${attemptId}.held`;
export const releaseOf = (attemptId: string): string => `${attemptId}.released`;

/**
 * Records how an attempt ended: in the command that started it, or in one whose id follows from the attempt's, so that it ends once.
 *
 * @throws E_CALL_NOT_FOUND, E_COMMAND_INVALID
 */
export const decideFinishCall = (pending: PendingFrame, step: StepOf<'finish_call'>): void => {
  const { op: _op, attemptId, answer, others, response, own, sentAt = null, head = null, ...more } = step;
  const { withheld: _withheld, ...rest } = more;
  const isOwn = pending.command === attemptId && pending.events.at(-1)?.type === 'CallStarted';
  if (!isOwn && pending.command !== finishOf(attemptId))
    throw fail(
      'E_COMMAND_INVALID',
      `the command that finishes a call starts it just before, or has the id ${finishOf(attemptId)}`,
    );
  if (!isOwn && pending.lookups.command(attemptId) === undefined)
    throw fail('E_CALL_NOT_FOUND', `no command of this history started the call ${attemptId}`, {
      attempt: attemptId,
    });
  refuseBody(pending, response, own);
  emit(pending, {
    type: 'CallFinished',
    attemptId,
    ...rest,
    choices: others === undefined ? null : others.length + (answer === null ? 0 : 1),
    sentAt,
    response,
    head,
    payload: {
      ...(answer === null ? {} : { data_answer: checked(answer, 'the answer') }),
      ...(others === undefined || others.length === 0
        ? {}
        : { data_choices: checked([...others], 'the choices of the answer') }),
      ...(own === null ? {} : { data_own: own }),
    },
  });
};

/**
 * Says that a call belongs elsewhere (calls §8).
 *
 * @throws E_CALL_NOT_FOUND
 */
export const decideReassignCall = (pending: PendingFrame, step: StepOf<'reassign_call'>): void => {
  const { attemptId, to, prompt } = step;
  if (pending.lookups.command(attemptId) === undefined)
    throw fail('E_CALL_NOT_FOUND', `no command of this history started the call ${attemptId}`, {
      attempt: attemptId,
    });
  emit(pending, { type: 'CallReassigned', attemptId, to, prompt });
};

/** The id of the command that finishes an attempt. */
export const finishOf = (attemptId: string): string => `${attemptId}.finished`;

const checked = (value: WideJson, what: string): WideJson =>
  checkValue(value, what, { code: 'E_COMMAND_INVALID', what: 'the call' });

/** Refuses a body whose pieces cannot be put together: what was recorded must be readable for ever. */
const refuseBody = (pending: PendingFrame, body: RecordedBody | null, own: string | null): void => {
  if (body === null) {
    if (own !== null) throw fail('E_COMMAND_INVALID', 'a call has bytes of a body that it does not have');
    return;
  }
  if ((body.encoding === 'none') !== !isBodyKept(body))
    throw fail('E_COMMAND_INVALID', 'a body is kept if it is not too large, and only then');
  if (!isBodyKept(body) && body.pieces.length === 0 && body.base === null && own === null) return;
  refuseLater(pending, body.base, 'the body that the call copies from');
  for (const seq of body.base?.frames ?? []) refuseLater(pending, { seq }, 'what the call shares bytes with');
  let size = 0;
  let owned = 0;
  for (const [first = 0, length] of body.pieces) {
    if (length === undefined) owned += first;
    size += length ?? first;
  }
  if (size !== body.size || owned > 0 !== (own !== null))
    throw fail('E_COMMAND_INVALID', 'the pieces of a body do not have its size');
};

const refuseLater = (pending: PendingFrame, place: { readonly seq: number } | null, what: string): void => {
  if (place !== null && place.seq >= pending.seq)
    throw fail('E_COMMAND_INVALID', `${what} is in frame ${place.seq}, which is not recorded yet`);
};
