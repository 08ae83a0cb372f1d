import type { ThreadPartName } from '@stemma/context-tree';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Origin } from '../origin-types.ts';
import type { BisectAnswer, BisectQuestion } from './bisect-types.ts';
import type { CacheReport } from './cache-types.ts';
import type { CallPrompt, CallsOptions } from './calls-types.ts';
import type { PromptSizes, SizesOptions } from './sizes-types.ts';
import type { WatchMessage } from './watch-types.ts';

/** Bytes [from, to). */
export type ByteRange = { readonly from: number; readonly to: number };

/** A byte range of the provider thread: what it is, its node, and the event that wrote it. */
export type BlamePart = ByteRange & {
  readonly part: ThreadPartName;
  /** Null for the brackets of the list and the commas between messages. */
  readonly node: string | null;
  /** An index of `origins`; null where `node` is. */
  readonly origin: number | null;
  readonly text: string;
};

/** Who wrote the bytes of the provider thread at a position. The parts cover the requested bytes without gaps. */
export type Blame = {
  readonly position: Position;
  /** The size of the whole thread. */
  readonly bytes: number;
  readonly from: number;
  readonly to: number;
  readonly origins: readonly Origin[];
  readonly parts: readonly BlamePart[];
};

/** Questions about what was sent: each only reads rows and contents. */
export type Questions = {
  /** Who wrote each byte of the provider thread at a position. @throws E_USAGE for an invalid range */
  blame(position: Position, range?: ByteRange): Promise<Blame>;
  /** The prompts of the calls on a branch's ancestor path, oldest first, each as what follows the prefix it shares with the one before. */
  calls(branchRef: BranchRef, options?: CallsOptions): AsyncIterable<CallPrompt>;
  /** What calls on a branch's ancestor path were shown, in messages and tokens, oldest first. */
  sizes(branchRef: BranchRef, options?: SizesOptions): Promise<PromptSizes>;
  /** How much of each call on a branch's ancestor path a prefix cache could have served, and what broke it. */
  cache(branchRef: BranchRef): Promise<CacheReport>;
  /**
   * The snapshot at which a selector begins to hold, on the way from a good one to a bad one.
   * @throws E_BISECT_ENDS, E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND
   */
  bisect(branchRef: BranchRef, question: BisectQuestion): Promise<BisectAnswer>;
  /**
   * Yields what a selector matches, now and whenever that changes, until the signal. `after`: the cursor of a message.
   * @throws E_SELECTOR_INVALID, E_USAGE for a position that never changes, E_STREAM_GONE
   */
  watch(
    name: string,
    selector: string,
    options: { readonly signal: AbortSignal; readonly after?: string },
  ): AsyncIterable<WatchMessage>;
};
