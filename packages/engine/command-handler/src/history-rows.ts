import type { PayloadSource, Unloaded } from '@stemma/context-tree';
import type { BranchState, BranchTip } from '@stemma/history';
import type { HeadState } from '@stemma/log';
import type { LookupLists } from './lookups-in-memory.ts';
import type { Remembered } from './recent-frames.ts';

/** Facts about one history, from one state of the rows that is at least as new as when the session began. */
export type HistoryFacts = {
  /** The `seq` after the newest frame that the rows have, and that frame's SHA-256. */
  head(): Pick<HeadState, 'next' | 'prev'>;
  /** The state of a branch after the newest of its frames before `limit`, or, with `seq`, at that position. */
  branchState(branchId: number, seq: number | null, limit: number): BranchState;
  /** The tip of a branch before frame `limit`, without its tree. */
  branchTip(branchId: number, limit: number): BranchTip | undefined;
  /** Adds to trees of branches the nodes that they lack. */
  loadTurns(needs: readonly Unloaded[]): void;
  findBranchByName(name: string): number | undefined;
  idTaken(id: string): boolean;
  nameTaken(name: string): boolean;
  remembered(command: string): Remembered | undefined;
  /** All that decisions look up; undefined if it would be more than a session keeps. */
  lookups(): LookupLists | undefined;
  /** The cycle of the newest commit or import at or before a position; 0 if there is none. */
  cycleAt(branchId: number, seq: number): number;
};

export type HistoryRows = {
  /** True if each reading takes a request over a network: then it pays to read all lookups of a history at once. */
  readonly isRemote: boolean;
  /** Calls `fn` with facts and payloads, again each time a payload had to be fetched, and returns its result. */
  readFacts<T>(fn: (facts: HistoryFacts, stored: PayloadSource) => T): Promise<T>;
  /** The same without facts: after `fn` has returned, it is not called again. */
  withPayloads<T>(fn: (stored: PayloadSource) => T): Promise<T>;
  /** Resolves when the rows have everything that is in the log now. */
  catchUp(): Promise<void>;
};
