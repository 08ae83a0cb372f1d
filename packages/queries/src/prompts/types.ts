import type { ThreadPartName } from '@stemma/context-tree';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Origin } from '../origin-types.ts';
import type { BisectAnswer, BisectQuestion } from './bisect-types.ts';
import type { CacheReport } from './cache-types.ts';
import type { WatchMessage } from './watch-types.ts';

/** Bytes [from, to). */
export type ByteRange = { readonly from: number; readonly to: number };

/** A stretch of the provider thread: what it is, the node it is of, and the event behind it. */
export type BlamePart = ByteRange & {
  readonly part: ThreadPartName;
  /** Null for the brackets of the list and the commas between messages. */
  readonly node: string | null;
  /** An index of `origins`; null where `node` is. */
  readonly origin: number | null;
  readonly text: string;
};

/** Who made the bytes of the provider thread at a position. The parts tile the bytes that were asked for. */
export type Blame = {
  readonly position: Position;
  /** Of the whole thread. */
  readonly bytes: number;
  readonly from: number;
  readonly to: number;
  readonly origins: readonly Origin[];
  readonly parts: readonly BlamePart[];
};

/** Questions about what was sent: each a read of rows and contents, nothing is written. */
export type Questions = {
  /** Who made each byte of the provider thread at a position. @throws E_USAGE for a range that is none */
  blame(position: Position, range?: ByteRange): Promise<Blame>;
  /** How much of each call on a branch's ancestor path a cache of prefixes could have served, and what broke it. */
  cache(branchRef: BranchRef): Promise<CacheReport>;
  /**
   * Where, on the way from a good snapshot to a bad one, a selector begins to hold.
   * @throws E_BISECT_ENDS, E_SELECTOR_INVALID, E_SNAPSHOT_NOT_FOUND
   */
  bisect(branchRef: BranchRef, question: BisectQuestion): Promise<BisectAnswer>;
  /**
   * What a selector matches, and again whenever that changes, until the signal. `after`: the cursor of a message.
   * @throws E_SELECTOR_INVALID, E_USAGE for a position that never changes, E_STREAM_GONE
   */
  watch(
    name: string,
    selector: string,
    options: { readonly signal: AbortSignal; readonly after?: string },
  ): AsyncIterable<WatchMessage>;
};
