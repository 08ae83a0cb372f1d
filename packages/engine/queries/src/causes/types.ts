import type { TreeDiff } from '@stemma/context-tree';
import type { Author, HistoryEvent } from '@stemma/events';
import type { Cause, Explains } from '@stemma/history';
import type { Position } from '@stemma/history-store';
import type { RequestChange } from '@stemma/model-apis';
import type { ByteRange } from '../prompts/types.ts';

/** A change of a node: what changed, the cause, and the frame that did it. */
export type TimelineEntryDescription = {
  readonly branchId: number;
  readonly seq: number;
  /** The event is the `index`-th of frame `seq`. */
  readonly index: number;
  readonly event: HistoryEvent['type'];
  /** The cycle that was running; of a commit or import the one that it ended. */
  readonly cycle: number;
  /** Of ageing: the last of the consecutive cycles that each lowered `ttl` by one; else null. */
  readonly until: number | null;
  readonly cause: Cause;
  readonly command: string;
  readonly author: Author;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of an intervention: the notes of its actor; else null. */
  readonly notes: string | null;
};

/** A cause of an entry of a diff. */
export type DiffCauseDescription = TimelineEntryDescription & {
  /** The fields of the entry that it explains; empty for an inserted or removed node. */
  readonly fields: readonly string[];
  /** True if it is on the way back from the older position to the merge base. */
  readonly undone: boolean;
};

export type ExplainedDiffEntry = {
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly fields: readonly string[];
  /** In the order of the way from the older position to the newer. */
  readonly causes: readonly DiffCauseDescription[];
  /**
   * Its bytes in the provider thread of each position: of a block its message, of a container from its first block to
   * its last; null if nothing of it is in that thread.
   */
  readonly bytes: { readonly a: ByteRange | null; readonly b: ByteRange | null };
};

/** A diff with causes, moves and merge base. The first three keys are the diff (context-tree §7). */
export type ExplainedDiff = TreeDiff & {
  readonly a: Position;
  readonly b: Position;
  /** The newest position on both ancestor paths, and its newest cycle; 0 before the first. */
  readonly mergeBase: { readonly branchId: number; readonly seq: number; readonly cycle: number };
  readonly entries: readonly ExplainedDiffEntry[];
  /** A removed and an added block of equal content: possibly one block that was moved (PACT 05 §4.5). */
  readonly moves: readonly { readonly from: string; readonly to: string; readonly contentHash: string }[];
};

/** An entry in the timeline of a node, and the fields that it set. */
export type NodeTimelineEntry = TimelineEntryDescription & {
  readonly explains: Explains;
  /** The parent from here on, if the entry set it. */
  readonly parent?: string | null;
  readonly ttl?: number | null;
  readonly priority?: number;
  /** What was taken out of the content before it was recorded; absent if nothing was. */
  readonly redacted?: readonly { readonly rule: string; readonly field: string; readonly count: number }[];
};

/** The timeline of a node up to a position. */
export type Why = {
  readonly node: string;
  readonly position: Position;
  /** True if it is in the tree at the position. */
  readonly present: boolean;
  /** The first and the last snapshot that have it, and all between; null if none does. */
  readonly snapshots: { readonly first: number; readonly last: number } | null;
  readonly added: NodeTimelineEntry;
  /** Its changes since it was inserted, in order. */
  readonly changes: readonly NodeTimelineEntry[];
  /** Null while it is not removed. */
  readonly removed: NodeTimelineEntry | null;
  /** What else changed with it for the model. */
  readonly request: {
    /** Tools and parameters that differ between the first call that showed it and the one before; null: there are not both. */
    readonly first: readonly RequestChange[] | null;
    /** The same for the first call that showed it no more. */
    readonly gone: readonly RequestChange[] | null;
  };
};

/** Questions about the causes of differences: each only reads rows. */
export type Causes = {
  /** The difference of two positions of one history with its causes; `a` counts as the older. */
  explain(a: Position, b: Position): Promise<ExplainedDiff>;
  /** What inserted, changed and removed a node. @throws E_NODE_NOT_FOUND */
  why(position: Position, id: string): Promise<Why>;
};
