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
  /** Of `cacheWrite`, what is kept for an hour; absent: the provider does not state it. */
  cacheWrite1h: count.optional(),
  reasoning: count.nullable(),
});
export type CallUsage = z.infer<typeof CallUsage>;

/** What the head of a response says; null where it says nothing. */
export const ResponseHead = z.strictObject({
  contentType: z.string().nullable(),
  /** The content coding of the body. */
  coding: z.string().nullable(),
  /** As it came: seconds, or a date. */
  retryAfter: z.string().nullable(),
});
export type ResponseHead = z.infer<typeof ResponseHead>;

/**
 * An attempt ended (calls §1). The payload holds `data_answer`, the message of the answer, and `data_own`, the own bytes
 * of the response; of a stream, the stream's. Of an answer with several choices `data_answer` is the first one, and
 * `data_choices` a list of the others. `data_answer_id` is the name that the provider gave an answer which it keeps, and
 * `data_context_edits` what it changed in the context before the model saw it.
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
  /** How many choices the answer has; null: not known. */
  choices: count.nullable(),
  /** When the request began to go out, if its start was recorded before: milliseconds since 1970, by the recorder's clock. */
  sentAt: count.nullable(),
  /** Milliseconds since the request was sent, measured by the recorder. */
  firstByteMs: count.nullable(),
  durationMs: count.nullable(),
  response: RecordedBody.nullable(),
  /** Null: none came, or nobody saw it. */
  head: ResponseHead.nullable(),
  error: z.strictObject({ code: z.string().nullable(), message: z.string() }).nullable(),
  payload: z.record(z.string(), payloadValue),
});
