import { fail } from '@stemma/errors';
import { CALL_STATUSES, CallUsage, RecordedBody } from '@stemma/events';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { checkedInCall, refuseBody } from '../decide/call-bodies.ts';
import { count, head, id, json } from './fields.ts';
import { defineStep } from './step.ts';

/** The id of the command that finishes an attempt. */
export const finishOf = (attemptId: string): string => `${attemptId}.finished`;

/**
 * Records how an attempt ended: in the command that started it, or in one whose id is the attempt's with `.finished` behind it, so that it
 * ends once.
 *
 * @throws E_CALL_NOT_FOUND, E_COMMAND_INVALID
 */
export const finishCall = defineStep({
  op: 'finish_call',
  schema: z.strictObject({
    op: z.literal('finish_call'),
    attemptId: id,
    status: z.enum(CALL_STATUSES),
    httpStatus: z.int().min(100).max(999).nullable(),
    finishReason: z.string().max(512).nullable(),
    model: z.string().max(512).nullable(),
    /** The name that the provider gave the answer, by which a later request goes on from it. */
    answerId: z.string().max(512).optional(),
    /** What its provider changed in the context before the model saw it: the type of each edit, and what it counts. */
    contextEdits: z
      .array(z.record(z.string().max(100), z.union([z.string().max(100), count])))
      .max(32)
      .optional(),
    usage: CallUsage.nullable(),
    firstByteMs: count.nullable(),
    durationMs: count.nullable(),
    error: z.strictObject({ code: z.string().max(512).nullable(), message: z.string().max(4096) }).nullable(),
    answer: json.nullable(),
    /** The messages of all choices of the answer but the first; without them nobody knows how many there are. */
    others: z.array(json).optional(),
    /** When the request began to go out, if its start was recorded before: milliseconds since 1970. */
    sentAt: count.nullable().optional(),
    response: RecordedBody.nullable(),
    head: z.strictObject({ contentType: head, coding: head, retryAfter: head }).nullable().optional(),
    own: z.string().nullable(),
    /** The response is not kept, as nobody could surely take secrets out of it. */
    withheld: z.literal(true).optional(),
  }),
  on: 'its branch',
  kind: 'run',
  along: true,
  afterSnapshot: true,
  withheld: ({ withheld }) => (withheld === true ? ['response'] : []),
  secrets: {
    model: { as: 'model' },
    answer: { as: 'data_answer' },
    answerId: { as: 'data_answer_id' },
    contextEdits: { as: 'data_context_edits' },
    others: { as: 'data_choices' },
    finishReason: { as: 'finishReason' },
    error: { as: 'error' },
    head: { as: 'head' },
    // Bodies are redacted before they are encoded.
    response: 'none',
    own: 'none',
    attemptId: 'none',
    status: 'none',
    httpStatus: 'none',
    usage: 'none',
    firstByteMs: 'none',
    durationMs: 'none',
    sentAt: 'none',
    withheld: 'none',
  },
  *decide(pending, step) {
    const {
      op: _op,
      attemptId,
      answer,
      answerId,
      contextEdits,
      others,
      response,
      own,
      sentAt = null,
      head: heads = null,
      ...more
    } = step;
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
    yield {
      type: 'CallFinished',
      attemptId,
      ...rest,
      choices: others === undefined ? null : others.length + (answer === null ? 0 : 1),
      sentAt,
      response,
      head: heads,
      payload: {
        ...(answer === null ? {} : { data_answer: checkedInCall(answer, 'the answer') }),
        ...(others === undefined || others.length === 0
          ? {}
          : { data_choices: checkedInCall([...others], 'the choices of the answer') }),
        ...defined({
          data_answer_id: answerId,
          data_context_edits: contextEdits,
          data_own: own ?? undefined,
        }),
      },
    };
  },
});
