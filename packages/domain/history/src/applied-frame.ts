import type { RecordChange } from '@stemma/context-tree';
import type { Author, HistoryEvent } from '@stemma/events';
import type { BranchState } from './state.ts';

/** A frame that was checked and applied. */
export type KeptFrame = {
  readonly history: string;
  readonly seq: number;
  readonly at: bigint;
  readonly author: Author;
  readonly command: string;
  readonly digest: Uint8Array;
  /** The branch that all events belong to. */
  readonly branchId: number;
  readonly events: readonly HistoryEvent[];
  /**
   * The branch after the frame. Read-only, and valid only until the next frame is applied. Reading it for a branch that
   * this frame only starts loads the branch: do not read it where `started` is a fork or a rollback.
   */
  readonly state: BranchState;
  /** Set when the frame starts a branch. */
  readonly started: BranchStart | null;
  /** Set when the frame ends a cycle (a commit or an import): the newest such event of the frame. */
  readonly snapshot: AppliedSnapshot | null;
  /**
   * True for a frame of observations: it belongs to no branch, and `branchId` is only the branch that was looked at.
   */
  readonly observed: boolean;
};

/** The same with what it did: the input of read models. */
export type AppliedFrame = KeptFrame & {
  /** What each event did to the tree, one list per event; empty for events that change no record. */
  readonly changes: readonly (readonly RecordChange[])[];
};

export type BranchStart =
  | { readonly how: 'start' }
  | { readonly how: 'fork' | 'rollback'; readonly parent: number; readonly at: number };

export type AppliedSnapshot = {
  readonly cycle: number;
  readonly treeHash: Uint8Array;
  readonly threadHash: Uint8Array;
  readonly counts: { readonly nodes: number; readonly blocks: number; readonly turns: number };
};
