import type { Change } from '@stemma/context-tree';
import type { Author, HistoryEvent } from '@stemma/events';
import type { LineageState } from './state.ts';

/** A frame that was accepted, checked and applied: what read models fold. */
export type AppliedFrame = {
  readonly history: string;
  readonly seq: number;
  readonly at: bigint;
  readonly author: Author;
  readonly command: string;
  readonly digest: Uint8Array;
  /** The strand that all events belong to. */
  readonly lineage: number;
  readonly events: readonly HistoryEvent[];
  /** What each event did to the tree, one list per event; empty for events that touch no record. */
  readonly changes: readonly (readonly Change[])[];
  /**
   * The lineage after the frame. Read-only, and only until the next frame is applied. Of a lineage that was only started
   * it is read in when it is asked for: leave it alone where `started` says a fork or rollback.
   */
  readonly state: LineageState;
  /** Set when the frame starts a lineage. */
  readonly started: Started | null;
  /** Set when the frame ends a cycle (a commit or an import): the newest such event of the frame. */
  readonly snapshot: AppliedSnapshot | null;
  /** True for a frame of observations: it lies outside every lineage, `lineage` is only the one that was looked at. */
  readonly observed: boolean;
};

export type Started =
  | { readonly how: 'start' }
  | { readonly how: 'fork' | 'rollback'; readonly parent: number; readonly at: number };

export type AppliedSnapshot = {
  readonly cycle: number;
  readonly treeHash: Uint8Array;
  readonly threadHash: Uint8Array;
  readonly counts: { readonly nodes: number; readonly blocks: number; readonly turns: number };
};
