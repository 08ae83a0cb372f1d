import { z } from 'zod';
import { count, payloadValue } from './node-shape.ts';
import { RecordedBody } from './recorded-body.ts';

/** How an attempt ended. One of which nothing more is known has no such event. */
export const CALL_STATUSES = ['answered', 'failed', 'cancelled', 'timed out', 'unknown'] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

/** Tokens as the provider states them; null: it does not. `input` are all, with those read from or written to a cache. */
export const CallUsage = z.strictObject({
  input: count.nullable(),
  output: count.nullable(),
  cached: count.nullable(),
  cacheWrite: count.nullable(),
  reasoning: count.nullable(),
});
export type CallUsage = z.infer<typeof CallUsage>;

/**
 * An attempt ended (calls §1). The payload holds `data_answer`, the message of the answer, and `data_own`, the own bytes
 * of the response; of a stream, the stream's.
 */
export const CallFinished = z.strictObject({
  type: z.literal('CallFinished'),
  attemptId: z.string().min(1),
  status: z.enum(CALL_STATUSES),
  httpStatus: z.int().min(100).max(999).nullable(),
  finishReason: z.string().nullable(),
  /** The model that answered, as the answer names it. */
  model: z.string().nullable(),
  usage: CallUsage.nullable(),
  /** Milliseconds since the request was sent, measured by the recorder. */
  firstByteMs: count.nullable(),
  durationMs: count.nullable(),
  response: RecordedBody.nullable(),
  error: z.strictObject({ code: z.string().nullable(), message: z.string() }).nullable(),
  payload: z.record(z.string(), payloadValue),
});
