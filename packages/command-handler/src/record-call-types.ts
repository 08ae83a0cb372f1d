import type { WideJson } from '@stemma/canonical';
import type { Author } from '@stemma/events';
import type { Outcome } from './outcome.ts';

/** The message list that is about to be sent, whole, as the chat completions API takes it. */
export type Call = {
  /** Made by the client: sent again, it has one effect. */
  readonly id: string;
  readonly by: Author;
  /** Why an actor does it; a recorder gives none. */
  readonly notes?: string;
  readonly messages: readonly WideJson[];
  /** Refuse with E_CONFLICT unless the newest frame of the branch is this one. */
  readonly expected?: number;
};

/** What became of a call, and how many messages stayed, were rewritten, went and came. */
export type CallOutcome = Outcome & {
  readonly kept: number;
  readonly replaced: number;
  readonly removed: number;
  readonly inserted: number;
};
