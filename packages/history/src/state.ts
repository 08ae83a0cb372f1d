import type { PayloadSource, Policy, ThreadMode, Tree } from '@stemma/context-tree';
import { missingKind } from '@stemma/suspend';
import type { Config } from './config.ts';

/** One line of snapshots at its newest frame. Read-only for everyone but this package. */
export type BranchState = {
  /** The `seq` of the frame that started it; 0 for the root branch. */
  readonly branchId: number;
  /** Where it left its parent; null for the root branch. */
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  /** The name people use; null for a branch that has only its id. */
  name: string | null;
  /** The `seq` of its newest frame: with `branch_id`, the position that `tree` shows. */
  seq: number;
  /** Mutable, with a journal; its cycle is the newest commit's or import's. */
  readonly tree: Tree;
  /** The largest `created_at_ns` of a node made on its ancestor path (context-tree §10.7). */
  newest: bigint;
  /** The next `creation_index` of the open cycle (context-tree §10.6). */
  nextIndex: number;
  policy: Policy | null;
  /** What is configured beside the policy (pool: Interventions). */
  config: Config;
  readonly thread: ThreadMode;
};

/** A history as far as it is at hand: branches may be absent and are asked for as {@link POSITIONS}. */
export type HistoryState = {
  readonly history: string;
  /** The `seq` of the next frame: 0 for a history that has not started. */
  next: number;
  readonly loadedBranches: Map<number, BranchState>;
  /** Branches that were started and not asked for since: their trees are those of their parents' positions. */
  readonly startedBranches: Map<number, StartedBranch>;
  /** The names that rollbacks left branches with, by branch. */
  readonly abandonedNames: Map<number, string | null>;
};

/** Where a branch stands, without its tree. */
export type BranchTip = {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  readonly name: string | null;
  /** The `seq` of its newest frame. */
  readonly seq: number;
};

/** A branch that has no frame but the one that started it. */
export type StartedBranch = {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number };
  name: string | null;
  readonly seq: number;
};

/** Facts outside of the trees that a command is decided on (all branches, abandoned ones too). Each may throw `Missing`. */
export type Lookups = {
  /** True if any node of the history, of whatever branch and time, has or had this id. */
  idTaken(id: string): boolean;
  /** True if a position of the history has this name. */
  nameTaken(name: string): boolean;
  /** The branch that has this name now. */
  branchNamed(name: string): number | undefined;
  /** The frame that a command with this id came to before, in this history. */
  command(id: string): { readonly seq: number; readonly digest: Uint8Array } | undefined;
};

/** Positions of which no rows are at hand yet. `seq` null: the newest of the branch. */
export const POSITIONS = missingKind<{ readonly branchId: number; readonly seq: number | null }>(
  'positions',
  ({ branchId, seq }) => `${branchId}.${seq}`,
);

/** What pure functions ask their caller for. Each may throw `Missing`; the caller fetches and calls again. */
export type Sources = {
  readonly payload: PayloadSource;
  /** A state of its own of the branch at the position after frame `seq`; `null`: its newest. Throws `Missing`. */
  readonly position: (branchId: number, seq: number | null) => BranchState;
  /** Where a branch stands, at a cost that no tree adds to; undefined: there is none. */
  readonly branchTip: (branchId: number) => BranchTip | undefined;
};
