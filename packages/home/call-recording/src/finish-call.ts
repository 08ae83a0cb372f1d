import type { Outcome } from '@stemma/command-handler';
import { encodeBody, responseCompanion, type UnkeptBody } from '@stemma/call-bodies';
import type { WideJson } from '@stemma/canonical';
import type { Author, CallStatus, CallUsage, ResponseHead } from '@stemma/events';
import { finishOf, type Command, type StepOf } from '@stemma/history';
import type { ContextEdit } from '@stemma/model-apis';
import type { BranchRef } from '@stemma/history-store';
import type { Redactor } from '@stemma/redaction';
import { defined } from '@stemma/values';

import { redactedResponse } from './redacted-body.ts';

/** How an attempt ended. Times are milliseconds since the request was sent. */
export type CallEnd = {
  readonly by: Author;
  readonly attemptId: string;
  readonly status: CallStatus;
  readonly httpStatus: number | null;
  readonly finishReason: string | null;
  readonly model: string | null;
  readonly usage: CallUsage | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  /** The message of the answer, as a chat API has it; null: there is none. */
  readonly answer: WideJson | null;
  /** The name that its provider gave it, if that keeps it. */
  readonly answerId?: string | undefined;
  /** What its provider changed in the context before the model saw it, as far as the answer says. */
  readonly contextEdits?: readonly ContextEdit[];
  /** The messages of all choices but the first; by default nobody knows how many there are. */
  readonly others?: readonly WideJson[];
  /** When the request began to go out, if its start was recorded before: milliseconds since 1970. */
  readonly sentAt?: number | null;
  /** What the head of the response says; by default nobody saw it. */
  readonly head?: ResponseHead | null;
  /** The body as it came, also of a stream, or what is known of one that is too large to be kept; null: not known. */
  readonly response: Uint8Array | UnkeptBody | null;
  /** The response without its content codings, if it had some; null: nobody knows how to undo them. */
  readonly plainResponse?: Uint8Array | null;
};

/** The step that records how an attempt ended. */
export const finishStep = (
  {
    answer,
    answerId,
    contextEdits,
    others,
    sentAt = null,
    head = null,
    response,
    plainResponse,
    ...end
  }: Omit<CallEnd, 'by'>,
  redactor?: Redactor,
): StepOf<'finish_call'> => {
  const body = response === null ? null : redactedResponse(response, redactor, plainResponse);
  // The answer is redacted with the command; the body is encoded beside what is recorded of it.
  const recorded = answer === null ? null : (redactor?.value(answer) ?? answer);
  const encoded = body === null ? null : encodeBody(body, null, responseCompanion(recorded));
  const isWithheld = response !== null && body === null;
  return {
    op: 'finish_call',
    ...end,
    answer,
    ...(others === undefined ? {} : { others: [...others] }),
    ...(contextEdits === undefined ? {} : { contextEdits: contextEdits.map((edit) => ({ ...edit })) }),
    ...defined({ answerId, sentAt: sentAt ?? undefined, head: head ?? undefined }),
    response: encoded?.body ?? null,
    own: encoded?.own ?? null,
    ...(isWithheld ? { withheld: true } : {}),
  };
};

/**
 * Records how an attempt ended. A repeat has no second effect.
 *
 * @throws E_CALL_NOT_FOUND if no command with the attempt's id is recorded; E_COMMAND_REUSED if another end is
 */
export const finishCall = async (
  submit: (command: Command) => Promise<Outcome>,
  { history, branchId }: BranchRef,
  { by, ...end }: CallEnd,
  redactor?: Redactor,
): Promise<Outcome> =>
  submit({ id: finishOf(end.attemptId), history, branchId, by, steps: [finishStep(end, redactor)] });
