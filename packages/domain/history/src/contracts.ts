import type { Frame, HistoryEvent } from '@stemma/events';
import type { AppliedFrame, KeptFrame } from './applied-frame.ts';
import type { Command } from './command.ts';
import type { HistoryState, Lookups, Sources } from './state.ts';

/** The result of a command: the events of its frame, and the branch that they belong to. */
export type Decided = {
  readonly branchId: number;
  readonly events: readonly HistoryEvent[];
  /**
   * The `seq` of the frame that this same command produced before: nothing is written, `events` is empty. Usually null.
   */
  readonly repeats: number | null;
};

/**
 * The events for a command at this state, or one coded error. Pure; the state is unchanged when it returns. The frame
 * made of the events must be the history's next (`state.next`), because ids and positions contain its number.
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

/** A decision that is in the state already. One of these is called before anything else is done with the state. */
export type PendingDecision = {
  /**
   * The frame with the decided events, which readers read as these, is the history's next. It is as if it had been applied with
   * `keep`, but what the decision computed is not computed again.
   *
   * @throws E_HISTORY_DEFECTIVE, and the state is as before the decision.
   */
  readonly keep: (frame: Frame) => KeptFrame;
  /** The state is again as it was before the decision. */
  readonly drop: () => void;
};

/** A decision, and what it changed; null if it changed nothing that is not done when its frame is applied. */
export type DecidedPending = { readonly decided: Decided; readonly pending: PendingDecision | null };

/** As {@link Decide}, but the state stays as it is after the events, until they are kept or dropped. */
export type DecidePending = (...input: Parameters<Decide>) => DecidedPending;

/**
 * Applies a frame to `state` and returns what it did, after checking that its events apply and that its recorded hashes
 * equal the computed ones. Any frame that the check of records accepted is either applied whole, or nothing changes and
 * it throws. With `keep`, `revertFrame` can undo the frame until `freeMemory` is called; without, every earlier
 * frame becomes final.
 *
 * @throws E_HISTORY_DEFECTIVE naming the seq; Missing: fetch and call again.
 */
export type ApplyFrame = (
  state: HistoryState,
  frame: Frame,
  sources: Sources,
  options?: { readonly keep?: boolean },
) => AppliedFrame;
