import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { ModelApi } from '@stemma/model-apis';

/** What an agent was answered, as plain values: conversations of one run, each with its calls in order. */
export type Recording = {
  /** In the order in which they began. */
  readonly conversations: readonly RecordedConversation[];
};

/** Calls of which each goes on from the one before. A fork is a conversation whose `from` names the call it goes on from. */
export type RecordedConversation = {
  readonly id: string;
  /** The call that led to it, as its link says (calls §3.8); null: none is known. */
  readonly parent: RecordedParent | null;
  /** The label of the call that its first one goes on from, in another conversation; null: it begins anew. */
  readonly from: string | null;
  readonly cycles: readonly RecordedCycle[];
};

export type RecordedParent = {
  /** The label of the asking call. */
  readonly call: string;
  /** The tool call whose arguments began the conversation, if the link is put down to one. */
  readonly toolCall: string | null;
};

/** A recorded call: what the model was shown, and every attempt to have it answered. */
export type RecordedCycle = {
  /** What people call it, in the whole rerun of this one only: `@c4`, `sub:@c1`. */
  readonly label: string;
  readonly api: ModelApi;
  /** Where it was sent, without the query; compared where `api` is `other`. Null: not recorded. */
  readonly path: string | null;
  /** The request as `parseWideJson` reads it: of a steered call as it came. */
  readonly request: WideJson;
  /** When it was recorded, in nanoseconds since 1970. */
  readonly at: bigint;
  /** In the order in which they were recorded: at least one. */
  readonly attempts: readonly RecordedAttempt[];
  /** Tokens of its answered attempt, asked and answered; null: not known. */
  readonly tokens: number | null;
};

export type AttemptOutcome = 'finished' | 'failed' | 'cancelled' | 'timed out' | 'unknown';

export type RecordedAttempt = {
  readonly id: string;
  readonly outcome: AttemptOutcome;
  /** Null: no head of an answer came. */
  readonly status: number | null;
  /** The message that the answer amounts to, as `readAnswer` reads it; null: none. */
  readonly answer: WideJsonObject | null;
  /** The id by which a later request names the answer (`previous_response_id`). */
  readonly answerId: string | null;
  readonly isStreamed: boolean;
  /** Whether the bytes of the answer can be served: `gone` if they were too large, erased or never kept. */
  readonly bytes: 'kept' | 'gone' | 'redacted';
};
