import { z } from 'zod';
import { CALL_APIS } from './call-apis.ts';
import { count, payloadValue } from './node-shape.ts';
import { RecordedBody } from './recorded-body.ts';

/** How a recorder found the branch of a call (calls §3). */
export const CALL_MATCHES = [
  'named',
  'started',
  'appended',
  'repeated',
  'rewritten',
  'forked',
  'assigned',
] as const;
export type CallMatch = (typeof CALL_MATCHES)[number];

/** A call of any history. */
export const CallAddress = z.strictObject({
  history: z.string().min(1),
  branchId: count,
  attemptId: z.string().min(1),
});
export type CallAddress = z.infer<typeof CallAddress>;

/** Why a recorder thinks that a call led to another conversation (calls §3.8). */
export const LINK_REASONS = ['argument', 'waiting'] as const;
export type LinkReason = (typeof LINK_REASONS)[number];

/**
 * Where a call comes from that goes on from none: the call whose tool it answers, as a recorder guesses; or the place where it
 * was recorded before somebody assigned it here.
 */
const CallOrigin = z.discriminatedUnion('kind', [
  CallAddress.extend({ kind: z.literal('called'), why: z.enum(LINK_REASONS) }),
  CallAddress.extend({ kind: z.literal('assigned') }),
]);
export type CallOrigin = z.infer<typeof CallOrigin>;

/**
 * The messages of a call, by which the next call of the conversation is found among those of the same `scope` (calls §3).
 */
export const PromptSummary = z.strictObject({
  scope: z.string(),
  match: z.enum(CALL_MATCHES),
  /** Of the whole list, in hexadecimal: the first 16 bytes. */
  list: z.string().regex(/^[0-9a-f]{32}$/),
  /** Of each message that the call brings, in hexadecimal: the first 8 bytes of its hash. */
  brings: z.array(z.string().regex(/^[0-9a-f]{16}$/)),
  origin: CallOrigin.nullable(),
});
export type PromptSummary = z.infer<typeof PromptSummary>;

/**
 * How a request went out, as far as its recorder saw it; null where it did not. No query and no user of an address is here:
 * they may hold a key.
 */
export const SentRequest = z.strictObject({
  /** Milliseconds since 1970, by the recorder's clock: when it began to go out. */
  at: count.nullable(),
  /** Scheme, host and port. */
  origin: z.string().nullable(),
  path: z.string().nullable(),
  contentType: z.string().nullable(),
  /** The content coding of the body. */
  coding: z.string().nullable(),
});
export type SentRequest = z.infer<typeof SentRequest>;

/** How true the picture of a call is that a file told of: its bytes, all its messages, or messages that were put together (imports §1). */
const FIDELITIES = ['exact', 'same', 'reconstructed'] as const;
export type Fidelity = (typeof FIDELITIES)[number];

/** How true the picture of a call is, and what of it is missing in its file: `system prompt`, `tools`. */
export const CallFidelity = z.strictObject({
  kind: z.enum(FIDELITIES),
  missing: z.array(z.string().min(1).max(64)).max(16),
});
export type CallFidelity = z.infer<typeof CallFidelity>;

/**
 * An attempt to call a model with what the position (`branchId`, `seq`) shows (calls §1). It changes no tree. The payload
 * holds `data_parameters`, `data_tools` unless an earlier event (`toolsAt`) has the same ones, `data_own`, the own bytes of the
 * request, and `data_place`: the call whose messages its provider has `kept`, the attempt whose answer it `follows`, a hash of the
 * `session` that its client named, the `run` that made it, a call that it `mayContinue`. `data_fidelity` ({@link CallFidelity}): a file
 * told of it; absent: whoever recorded it was there.
 */
export const CallStarted = z.strictObject({
  type: z.literal('CallStarted'),
  /** The id of the command that recorded it. */
  attemptId: z.string().min(1),
  branchId: count,
  seq: count,
  cycle: count,
  api: z.enum(CALL_APIS),
  model: z.string().nullable(),
  /** The event whose payload has the tools; null: they are not known, or there are none. */
  toolsAt: z.strictObject({ seq: count, index: count }).nullable(),
  /** The body as it was sent; null: only its messages are known. */
  request: RecordedBody.nullable(),
  /** Null: nobody looks for the next call by its messages. */
  prompt: PromptSummary.nullable(),
  /** Null: nobody saw how it went out. */
  sent: SentRequest.nullable(),
  payload: z.record(z.string(), payloadValue),
});
