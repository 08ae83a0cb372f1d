import type { CallStatus } from '@stemma/events';
import type { CallChange } from '@stemma/home';
import type { AskedScope, CallBranch, EntryRef, StartedEntry } from './entry.ts';

/** Records entries, in the order in which it gets them. */
export type CallSink = {
  /**
   * @param answer is called with what became of it, once
   * @param end the end of the call whose start `ref` has: both are recorded in one
   */
  record(
    ref: EntryRef,
    answer: (outcome: RecordedEntry) => void,
    how?: {
      /** It is from a process that has ended. */
      readonly left?: boolean;
      readonly end?: EntryRef;
    },
  ): void;
  /** True if observers may steer a call that is looked for there, as the log says now; what is known already is answered at once. */
  mayBeSteered(place: AskedScope): boolean | Promise<boolean>;
  /** Puts what they changed into a call, and holds it where they say so. @param change what a rerun changes of it */
  steer(entry: StartedEntry, body: Uint8Array, gone: AbortSignal, change?: CallChange): Promise<SteeredEntry>;
};

/** What becomes of a call that observers may steer. */
export type SteeredEntry =
  /** They do not: it is recorded as every other. */
  | { readonly kind: 'untouched' }
  /** It goes out with this body, or as it came (null). `isRecorded`: the log has it already. */
  | {
      readonly kind: 'sent';
      readonly branch: CallBranch;
      readonly body: Uint8Array | null;
      readonly isRecorded: boolean;
    }
  /** It goes out as it came, although they do. */
  | { readonly kind: 'unsteered'; readonly reason: string }
  /** It does not go out. */
  | {
      readonly kind: 'ended';
      readonly branch: CallBranch;
      readonly how: 'aborted' | 'cancelled';
      readonly message: string;
    };

/**
 * What became of an entry: recorded in a branch, with how the call ended, if that is known; refused with a reason that no try will
 * change; or settled by another process that began with this one, which has removed its file.
 */
export type RecordedEntry =
  | { readonly branch: CallBranch; readonly status?: CallStatus }
  | { readonly refused: { readonly code: string; readonly message: string } }
  | { readonly settledElsewhere: true };
