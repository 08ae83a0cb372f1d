import type { NodeRecord, Policy, ThreadMode, TreeParts, TurnRecord } from '@stemma/context-tree';
import type { Frame, HistoryEvent } from '@stemma/events';
import type { AppliedFrame } from './applied-frame.ts';
import type { Command } from './command.ts';
import type { Config } from './config.ts';
import type { BranchState, HistoryState, Lookups, Sources } from './state.ts';

/** What a command comes to: the events of its frame, and the branch they belong to. */
export type Decided = {
  readonly branchId: number;
  readonly events: readonly HistoryEvent[];
  /** The frame that this very command came to before: there is nothing to write, `events` is empty. Usually null. */
  readonly repeats: number | null;
};

/**
 * The events that a command comes to at this state, or one coded error. Pure; the state is as before when it returns.
 * The frame that is made of them must be the history's next (`state.next`): ids and positions are made for it.
 *
 * @param clock nanoseconds since 1970, read once.
 * @throws coded errors; Missing: fetch and call again.
 */
export type Decide = (
  state: HistoryState,
  command: Command,
  clock: bigint,
  sources: Sources & { readonly lookups: Lookups },
) => Decided;

/**
 * Checks that a frame's events apply and that its recorded hashes are the computed ones, applies it to `state`, and
 * gives what it did. Total: any frame that the check of records accepted is either applied, or nothing is changed and it throws.
 * With `keep` the frame can be taken back by `revertFrame` until `settle` is called; without, everything before is
 * settled.
 *
 * @throws E_HISTORY_DEFECTIVE naming the seq; Missing: fetch and call again.
 */
export type ApplyFrame = (
  state: HistoryState,
  frame: Frame,
  sources: Sources,
  options?: { readonly keep?: boolean },
) => AppliedFrame;

/** A branch at one position, as it lies in rows. */
export type BranchParts = TreeParts & {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  readonly name: string | null;
  /** The frame after which it is so. */
  readonly seq: number;
  readonly newest: bigint;
  readonly nextIndex: number;
  readonly policy: Policy | null;
  readonly config: Config;
  readonly thread: ThreadMode;
  readonly turns: Iterable<TurnRecord>;
  readonly nodes: Iterable<NodeRecord>;
};

/**
 * A branch built from its parts. Digests are not among them: the first commit after loading computes them from the
 * payloads (asking for those that are not at hand), later ones cost what changed.
 */
export type LoadBranch = (parts: BranchParts) => BranchState;
