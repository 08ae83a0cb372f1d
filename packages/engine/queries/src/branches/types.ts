import type { WideJson } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import type { ObservationKind, BranchPosition } from '@stemma/events';
import type { Step } from '@stemma/history';
import type { BranchRef, Position } from '@stemma/history-store';
import type { BranchSummary } from '../read-types.ts';
import type { UnresolvedStep } from './resolve-steps.ts';

/** A saved position, as `list` returns it (pool: Branches and snapshots). */
export type SavedPosition = {
  /** The name it was saved under. */
  readonly id: string;
  /** When it was saved; milliseconds since 1970. */
  readonly created_at: number;
  /** The saved position before it on its ancestor path. */
  readonly parent_id: string | null;
  readonly description: string;
  /** The cycle of the newest snapshot at or before it; null before the first. */
  readonly round_number: number | null;
  /** The general configuration and the policy in force there. */
  readonly config: { readonly [key: string]: WideJson };
  /** Of that snapshot. */
  readonly metrics: { readonly nodes: number; readonly blocks: number; readonly turns: number } | null;
  readonly position: Position;
  readonly branch: string;
  readonly branchId: number;
  readonly actor: string | null;
};

/** A position on a branch that the context names: `cycle` is the newest at it, null before the first. */
type LabelledPosition = { readonly seq: number; readonly cycle: number | null; readonly label: string };

/** A branch in the tree of its history. */
export type BranchNode = {
  readonly branch: string;
  readonly branchId: number;
  readonly name: string | null;
  readonly how: 'start' | 'fork' | 'rollback';
  /** The position of its parent that it starts from. */
  readonly parent: (LabelledPosition & { readonly branchId: number }) | null;
  /** The branch of the rollback that abandoned it; null while it is not abandoned. */
  readonly abandoned_by: number | null;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** Its newest frame. */
  readonly seq: number;
  /** The newest cycle on its ancestor path; null before the first. */
  readonly cycle: number | null;
  readonly frames: number;
  /** The call that led to its conversation (calls §3.8); null: none is known. */
  readonly called_by: BranchSummary['calledBy'];
  readonly may_continue: BranchSummary['mayContinue'];
  /** The note of the command that started it. */
  readonly description: string;
  readonly saved: readonly (LabelledPosition & { readonly name: string })[];
};

export type Configuration = {
  readonly position: Position;
  readonly config: { readonly [key: string]: WideJson };
};

/** What an actor looked at. */
export type NewObservation = {
  readonly kind: ObservationKind;
  readonly what: string;
  readonly position: Position;
  readonly times: number;
  /** Nanoseconds since 1970. */
  readonly firstAt: bigint;
  readonly lastAt: bigint;
};

/** An observation as it was recorded. */
export type Observation = {
  readonly seq: number;
  readonly actor: string;
  readonly kind: ObservationKind;
  readonly what: string;
  readonly position: { readonly branch: string; readonly branchId: number; readonly seq: number };
  readonly times: number;
  /** Milliseconds since 1970. */
  readonly first_at: number;
  readonly last_at: number;
};

export type Branches = {
  /** The branches of a history in the order they began, each with the position of its parent that it starts from. */
  tree(history: string): Promise<readonly BranchNode[]>;
  /**
   * The branches on the ancestor path of a position (`@c3`, `BRANCH@c3`, or a branch alone), from the root
   * (`get_branch`).
   */
  ancestors(branchRef: BranchRef, at: string): Promise<readonly BranchNode[]>;
  /** The newest position that two branches of a history both have (context-tree §5). */
  mergeBase(a: BranchRef, b: BranchRef): Promise<Position>;
  /** The saved positions of a history in the order they were saved; of all histories if none is given. */
  saved(history?: string): Promise<readonly SavedPosition[]>;
  config(position: Position): Promise<Configuration>;
  /** How a branch can continue from a position: it is there now, it was there before (rollback), or never (fork). */
  howToContinue(branchRef: BranchRef, position: Position): Promise<'current' | 'rollback' | 'fork'>;
  /**
   * The branch of a command that needs no look-up in the rows: named as `<id of a history>:<branch id>`, with no
   * reference in its steps. Undefined for other commands: use `resolveSteps`. The writer checks that the branch exists.
   */
  findExact(name: string, steps: readonly UnresolvedStep[]): BranchRef | undefined;
  /**
   * The branch and the positions that a command refers to: now, or, for a repeated command, when it was first accepted. It
   * waits for no rows: those that `branchRef` was found in are new enough.
   *
   * @throws what resolving a reference throws; E_USAGE for a load of the branch's current position
   */
  resolveSteps(
    branchRef: BranchRef,
    command: string,
    steps: readonly UnresolvedStep[],
  ): Promise<{ readonly branchRef: BranchRef; readonly steps: readonly Step[] }>;
  /** The position of an intervention's frame, at which notes about it are recorded. @throws E_NOT_FOUND */
  interventionPosition(history: string, id: string): Promise<BranchPosition>;
  /** True if the branch has `observe` configured, so that looking at it is recorded. */
  isObserved(branchRef: BranchRef): Promise<boolean>;
  /** Records what an actor looked at; null if the branch does not record observations. */
  observe(
    branchRef: BranchRef,
    actor: string,
    seen: readonly NewObservation[],
    command: string,
  ): Promise<Outcome | null>;
  observations(
    history: string,
    page?: { readonly from?: number; readonly limit?: number; readonly actor?: string },
  ): Promise<readonly Observation[]>;
};
