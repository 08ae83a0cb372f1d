import { z } from 'zod';
import { CALL_STATUSES, CallUsage, ResponseHead } from './call-finished.ts';
import { SentRequest } from './call-started.ts';
import { count, payloadValue } from './node-shape.ts';
import { RecordedBody } from './recorded-body.ts';

/**
 * A program called an API of a provider in which no messages are read, such as `POST /v1/embeddings`, and the call has ended (calls §10).
 * It is made with no position: the frame's branch is only where it lies, and neither its tree nor its cycles change. The payload holds
 * `data_request` and `data_response`, the own bytes of the bodies.
 */
export const ProviderCallRecorded = z.strictObject({
  type: z.literal('ProviderCallRecorded'),
  /** The id of the command that recorded it. */
  attemptId: z.string().min(1),
  /** The run of a program that made it; null: not known. */
  run: z.string().min(1).nullable(),
  method: z.string().min(1),
  /** That the request names, else the answer; null: neither does. */
  model: z.string().nullable(),
  sent: SentRequest,
  /** `unknown`: nobody knows how it ended. */
  status: z.enum(CALL_STATUSES),
  httpStatus: z.int().min(100).max(999).nullable(),
  /** Milliseconds since the request was sent, measured by the recorder. */
  firstByteMs: count.nullable(),
  durationMs: count.nullable(),
  usage: CallUsage.nullable(),
  /** The bodies on the wire; null: they are not kept, or there was none. */
  request: RecordedBody.nullable(),
  response: RecordedBody.nullable(),
  /** Null: no response came. */
  head: ResponseHead.nullable(),
  error: z.strictObject({ code: z.string().nullable(), message: z.string() }).nullable(),
  payload: z.record(z.string(), payloadValue),
});
