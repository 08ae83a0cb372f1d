import type { Outcome } from '@stemma/command-handler';
import type { WideJson } from '@stemma/canonical';
import type { Author } from '@stemma/events';
import type { Redaction } from '@stemma/history';

import type { CallFacts } from './start-call.ts';

/** A whole message list that is about to be sent, as the chat completions API takes it. */
export type Call = {
  /** Made by the client: a call sent twice has one effect. */
  readonly id: string;
  readonly by: Author;
  /** Why an actor does it; a recorder has none. */
  readonly notes?: string;
  readonly messages: readonly WideJson[];
  /** What else is known of the call, if it is one that is about to be made: an attempt is recorded with it. */
  readonly facts?: CallFacts;
  /** Fails with E_CONFLICT unless the newest frame of the branch is this one. */
  readonly expected?: number;
  /** What was taken out of the messages before: `step` is the index of a message, `node` that of a node it becomes. */
  readonly redactions?: readonly Redaction[];
};

/** The outcome of a call, and how many messages were kept, replaced, removed and inserted. */
export type CallOutcome = Outcome & {
  readonly kept: number;
  readonly replaced: number;
  readonly removed: number;
  readonly inserted: number;
};
