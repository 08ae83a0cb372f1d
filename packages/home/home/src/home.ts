import type { ForkSteps, Outcome, TriedFork } from '@stemma/command-handler';
import type { Command } from '@stemma/history';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Branches, LoggedEvent } from '@stemma/queries';
import type { Steering } from '@stemma/steering';
import type { HomeCalls } from './home-calls.ts';
import type { HomeOperations } from './home-operations.ts';
import type { HomePrivacy } from './home-privacy.ts';
import type { HomeQueries } from './home-queries.ts';
import type { HomeReading } from './home-reading.ts';

/** An embedded Stemma: everything one directory holds. All reads see at least what this process has written. */
export type Home = {
  readonly directory: string;
  /** Finds a history or branch by id, by the beginning of an id (4 letters at least), or by name. */
  find(name: string): Promise<BranchRef>;
  /** The position of `@t0 @t-1 @c12 @s57 @name:NAME`; without a reference the working state. */
  position(branchRef: BranchRef, ref?: string): Promise<Position>;
  /** What histories hold: trees at positions, snapshots, events. */
  readonly read: HomeReading;
  /** What is asked of rows beyond that: causes, searches, pools, stages, audits. */
  readonly queries: HomeQueries;
  /** Branches, saved positions, configuration, and who looked. */
  readonly branches: Branches;
  /** Decides, records durably, and answers. @throws coded errors of the decision, E_CONFLICT, E_OUTCOME_UNKNOWN. */
  submit(command: Command): Promise<Outcome>;
  /**
   * Decides steps as in forks at a position, and records nothing: what it throws, `submit` would throw once they are there.
   *
   * @returns the first of the forks
   * @throws coded errors of the decision, E_TOOL_PAIR
   */
  tryInFork(position: Position, steps: ForkSteps): Promise<TriedFork>;
  /** What models were asked, and what came back; and how it is recorded. */
  readonly calls: HomeCalls;
  /** Calls that observers steer: their changes in what goes out, breakpoints, calls that wait. */
  readonly steering: Steering;
  /** Secrets that are taken out, and histories that can be erased. */
  readonly privacy: HomePrivacy;
  /** What keeps it in order: reports, rebuilding, verification, mending. */
  readonly operations: HomeOperations;
  /**
   * New events as they are accepted, of all histories or of one: after a cursor, or (one history) from a frame, or from
   * now. Ends with the signal. @throws E_STREAM_GONE when the log does not have the cursor.
   */
  follow(options: {
    readonly signal: AbortSignal;
    readonly after?: string;
    readonly history?: string;
    readonly from?: number;
  }): AsyncIterable<{ readonly cursor: string; readonly events: readonly LoggedEvent[] }>;
  /** Resolves when everything that is in the log now is seen by what is read next. @throws E_ROWS_BEHIND */
  catchUp(): Promise<void>;
  close(): Promise<void>;
};
