import type { TreeDiff } from '@stemma/context-tree';
import type { Author, HistoryEvent } from '@stemma/events';
import type { Cause, Explains } from '@stemma/history';
import type { Position } from '@stemma/history-store';
import type { ByteRange } from '../prompts/types.ts';

/** Something that happened to a node: what, for which cause, and the frame that did it. */
export type TimelineEntryDescription = {
  readonly branchId: number;
  readonly seq: number;
  /** The event is the `index`-th of frame `seq`. */
  readonly index: number;
  readonly event: HistoryEvent['type'];
  /** The cycle that ran; of a commit or import the one that it ended. */
  readonly cycle: number;
  /** Of ageing: the last of the cycles in a row that took one off `ttl` each; else null. */
  readonly until: number | null;
  readonly cause: Cause;
  readonly command: string;
  readonly author: Author;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Of an intervention: what its actor wrote to it; else null. */
  readonly notes: string | null;
};

/** A cause of an entry of a diff. */
export type DiffCauseDescription = TimelineEntryDescription & {
  /** The fields of the entry that it accounts for; empty for what came or went. */
  readonly fields: readonly string[];
  /** It lies on the way back to the last position that both have in common. */
  readonly undone: boolean;
};

export type ExplainedDiffEntry = {
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly fields: readonly string[];
  /** In the order of the way from the older position to the newer. */
  readonly causes: readonly DiffCauseDescription[];
  /**
   * Where it is in the provider thread of each position: of a block its message, of what holds blocks the stretch from the
   * first to the last; null: nothing of it is in that thread.
   */
  readonly bytes: { readonly a: ByteRange | null; readonly b: ByteRange | null };
};

/** A diff with everything that is known of it. The first three keys are the diff (context-tree §7). */
export type ExplainedDiff = TreeDiff & {
  readonly a: Position;
  readonly b: Position;
  /** The last position that both have in common, and the newest cycle there; 0 before the first. */
  readonly mergeBase: { readonly branchId: number; readonly seq: number; readonly cycle: number };
  readonly entries: readonly ExplainedDiffEntry[];
  /** A removed and an added block of equal content: perhaps one that was moved (PACT 05 §4.5). */
  readonly moves: readonly { readonly from: string; readonly to: string; readonly contentHash: string }[];
};

/** A moment in the life of a node, and what it set. */
export type NodeTimelineEntry = TimelineEntryDescription & {
  readonly explains: Explains;
  /** As it is from here on, where the moment set it. */
  readonly parent?: string | null;
  readonly ttl?: number | null;
  readonly priority?: number;
};

/** The life of a node as seen from a position. */
export type Why = {
  readonly node: string;
  readonly position: Position;
  /** It is in the tree at the position. */
  readonly present: boolean;
  /** The first and the last snapshot that it is in, with all between; null: none. */
  readonly snapshots: { readonly first: number; readonly last: number } | null;
  readonly added: NodeTimelineEntry;
  /** Everything that happened to it since, in order. */
  readonly changes: readonly NodeTimelineEntry[];
  /** Null: it is there. */
  readonly removed: NodeTimelineEntry | null;
};

/** Questions about why things are as they are: each a read of rows, nothing is written. */
export type Causes = {
  /** The difference of two positions of one history with its causes; `a` counts as the older. */
  explain(a: Position, b: Position): Promise<ExplainedDiff>;
  /** How a node came, what happened to it, how it went. @throws E_NODE_NOT_FOUND */
  why(position: Position, id: string): Promise<Why>;
};
