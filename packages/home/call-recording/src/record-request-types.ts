import type { WideJson } from '@stemma/canonical';
import type { CallMatch, CallOrigin, Erasable } from '@stemma/events';
import type { Redaction } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';

import type { MatchCandidate } from './match-call.ts';
import type { PromptHashes } from './prompt-hash.ts';
import type { Call } from './record-call-types.ts';
import type { CallFacts } from './start-call.ts';

/** Where the conversation of a call is looked for. By default in all calls that were recorded without a place. */
export type CallScope =
  /** In the calls of one run of a program. */
  | { readonly run: string }
  /** In one history. */
  | { readonly history: string }
  /**
   * In the calls of an erasable history that does not take this one, and in other histories. What goes on from none starts a
   * history that is erasable, too, and about the same subject.
   */
  | { readonly beside: string; readonly erasable: Erasable }
  /** It is this branch. */
  | { readonly branch: BranchRef };

/** A call of which it is not known to which branch it belongs. */
export type UnplacedCall = Pick<Call, 'id' | 'by' | 'messages'> & {
  readonly facts: Omit<CallFacts, 'found' | 'hashes'>;
  readonly within?: CallScope;
};

/** Where a call was recorded, and how that was found. */
export type PlacedCall = {
  readonly branch: BranchRef;
  readonly match: CallMatch;
  /** True if its end is recorded, too. */
  readonly isEnded: boolean;
  /** Present if it was recorded before: nothing was recorded now. */
  readonly before?: true;
};

/** Where a call belongs, before anything of it is recorded. */
export type FoundBranch = {
  readonly scope: string;
  readonly match: CallMatch;
  /** A hash of the session that its client named; undefined: it named none. */
  readonly session: string | undefined;
  /** The run of a program that makes it, where its scope does not say so; undefined: not known. */
  readonly run: string | undefined;
  /** The call that led to it, if it begins a conversation of its own. */
  readonly origin: CallOrigin | null;
  /** The call that it goes on from, and its branch; undefined: it begins a conversation. */
  readonly from: Pick<MatchCandidate, 'history' | 'branchId' | 'at'> | undefined;
  /** What is compared and recorded: without secrets, where rules take them out. */
  readonly messages: readonly WideJson[];
  readonly redactions: readonly (readonly Redaction[])[];
  readonly hashes: PromptHashes;
};
