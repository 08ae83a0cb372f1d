import type { CallBranch, OpenEntry, StartedEntry } from './entry.ts';

/** What is known of an answer when its first piece comes. */
export type UnendedHead = Pick<
  OpenEntry,
  'httpStatus' | 'contentType' | 'coding' | 'retryAfter' | 'sentAt' | 'firstByteMs'
>;

/** What the client of one call was given so far, where a process that comes later finds it. */
export type UnendedCall = {
  /** Before it is given: a piece of the answer. @param head of its answer @param durationMs since the call began */
  given(piece: Uint8Array, head: UnendedHead, durationMs: number): void;
  /** Its beginning is recorded. */
  placed(branch: CallBranch): void;
  /** Its end is noted, or nothing of it is recorded: all of it is forgotten. */
  close(): void;
};

/** Keeps what clients of calls under way were given. */
export type UnendedCalls = { readonly open: (entry: StartedEntry) => UnendedCall };

/** Where nothing may be written: it is forgotten with the process. */
export const forgetUnendedCalls: UnendedCalls = {
  open: () => ({ given: () => undefined, placed: () => undefined, close: () => undefined }),
};
