import { CALL_STATUSES, CallUsage, RecordedBody, SentRequest } from '@stemma/events';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { refuseBody } from '../decide/call-bodies.ts';
import { count, head, id } from './fields.ts';
import { defineStep } from './step.ts';

/** A body, and the bytes of it as text, encoded as it says; null: it is not kept, or there was none. */
const body = z.strictObject({ body: RecordedBody, own: z.string().nullable() }).nullable();

/**
 * Records a call of a provider's API that carries no messages, as a whole. The id of the command is the attempt's.
 *
 * @throws E_COMMAND_INVALID for a body whose pieces are not its bytes
 */
export const recordProviderCall = defineStep({
  op: 'record_provider_call',
  schema: z.strictObject({
    op: z.literal('record_provider_call'),
    run: id.max(256).nullable(),
    method: z.string().min(1).max(20),
    model: z.string().max(512).nullable(),
    sent: SentRequest.extend({
      origin: z.string().max(512).nullable(),
      path: z.string().max(2_048).nullable(),
      contentType: head,
      coding: head,
    }),
    status: z.enum(CALL_STATUSES),
    httpStatus: z.int().min(100).max(999).nullable(),
    firstByteMs: count.nullable(),
    durationMs: count.nullable(),
    usage: CallUsage.nullable(),
    request: body,
    response: body,
    head: z.strictObject({ contentType: head, coding: head, retryAfter: head }).nullable(),
    error: z.strictObject({ code: z.string().max(512).nullable(), message: z.string().max(4096) }).nullable(),
    /** The bodies that are not kept, as nobody could surely take secrets out of them. */
    withheld: z.array(z.enum(['request', 'response'])).max(2),
  }),
  on: 'its branch',
  kind: 'run',
  alone: true,
  withheld: ({ withheld }) => withheld,
  secrets: {
    model: { as: 'model' },
    sent: { as: 'sent' },
    head: { as: 'head' },
    error: { as: 'error' },
    // Bodies are redacted before they are encoded, and the run before it is named.
    request: 'none',
    response: 'none',
    run: 'none',
    method: 'none',
    status: 'none',
    httpStatus: 'none',
    firstByteMs: 'none',
    durationMs: 'none',
    usage: 'none',
    withheld: 'none',
  },
  *decide(pending, { op: _op, withheld: _withheld, request, response, ...rest }) {
    for (const each of [request, response]) refuseBody(pending, each?.body ?? null, each?.own ?? null);
    yield {
      type: 'ProviderCallRecorded',
      attemptId: pending.command,
      ...rest,
      request: request?.body ?? null,
      response: response?.body ?? null,
      payload: defined({
        data_request: request?.own ?? undefined,
        data_response: response?.own ?? undefined,
      }),
    };
  },
});
