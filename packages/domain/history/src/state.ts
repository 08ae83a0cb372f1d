import type { PayloadSource, Policy, ThreadMode, Tree } from '@stemma/context-tree';
import { missingKind } from '@stemma/suspend';
import type { Config } from './config.ts';

/** One branch at its newest frame. Only this package may change it. */
export type BranchState = {
  /** The `seq` of the frame that started it; 0 for the root branch. */
  readonly branchId: number;
  /** The position of its parent at which it starts; null for the root branch. */
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  /** The name that people use; null for a branch with only an id. */
  name: string | null;
  /** The `seq` of its newest frame: with `branchId`, the position that `tree` shows. */
  seq: number;
  /** Mutable, with a journal. Its cycle is that of the newest commit or import. */
  readonly tree: Tree;
  /** The largest `created_at_ns` of a node made on its ancestor path (context-tree §10.7). */
  newest: bigint;
  /** The next `creation_index` of the open cycle (context-tree §10.6). */
  nextIndex: number;
  policy: Policy | null;
  /** The configuration besides the policy (pool: Interventions). */
  config: Config;
  readonly thread: ThreadMode;
};

/** A history with the branches that are in memory; others are requested as {@link POSITIONS}. */
export type HistoryState = {
  readonly history: string;
  /** The `seq` of the next frame: 0 for a history that has not started. */
  next: number;
  readonly loadedBranches: Map<number, BranchState>;
  /** Branches that were started and not loaded since: their trees are those of their parents' positions. */
  readonly startedBranches: Map<number, StartedBranch>;
  /** The names that rollbacks gave abandoned branches, by branch. */
  readonly abandonedNames: Map<number, string | null>;
  /** True when its key was destroyed: it takes no more commands. */
  erased: boolean;
};

/** The newest position of a branch, without its tree. */
export type BranchTip = {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number } | null;
  readonly name: string | null;
  /** The `seq` of its newest frame. */
  readonly seq: number;
};

/** A branch with no frame but the one that started it. */
export type StartedBranch = {
  readonly branchId: number;
  readonly parent: { readonly branchId: number; readonly at: number };
  name: string | null;
  readonly seq: number;
};

/**
 * Facts outside of the trees that decisions need, from all branches including abandoned ones. Each may throw `Missing`.
 */
export type Lookups = {
  /** True if any node of the history, on any branch and at any time, has or had this id. */
  idTaken(id: string): boolean;
  /** True if a position of the history has this name. */
  nameTaken(name: string): boolean;
  /** The branch that has this name now. */
  branchNamed(name: string): number | undefined;
  /** The frame of an earlier command with this id in this history. */
  command(id: string): { readonly seq: number; readonly digest: Uint8Array } | undefined;
};

/** Positions whose rows must be fetched. `seq` null: the newest of the branch. */
export const POSITIONS = missingKind<{ readonly branchId: number; readonly seq: number | null }>(
  'positions',
  ({ branchId, seq }) => `${branchId}.${seq}`,
);

/** What pure functions read from their caller. Each may throw `Missing`; the caller fetches and calls again. */
export type Sources = {
  readonly payload: PayloadSource;
  /** A new state of the branch at the position after frame `seq`; `null`: its newest. Throws `Missing`. */
  readonly position: (branchId: number, seq: number | null) => BranchState;
  /** The tip of a branch, at a cost independent of its tree; undefined: there is no such branch. */
  readonly branchTip: (branchId: number) => BranchTip | undefined;
};
