import type { WideJson } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import type { ObservationKind } from '@stemma/events';
import type { Step } from '@stemma/history';
import type { BranchRef, Position } from '@stemma/history-store';
import type { UnresolvedStep } from './resolve-steps.ts';

/** A position that somebody saved, as `list` gives it (pool: Branches and snapshots). */
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
  readonly actor: string | null;
};

/** A position on a branch that is known: `cycle` is the newest at it, null before the first. */
type LabelledPosition = { readonly seq: number; readonly cycle: number | null; readonly label: string };

/** A branch in the tree of its history. */
export type BranchNode = {
  readonly branch: string;
  readonly branchId: number;
  readonly name: string | null;
  readonly how: 'start' | 'fork' | 'rollback';
  /** Where it left its parent. */
  readonly parent: (LabelledPosition & { readonly branchId: number }) | null;
  /** The branch that a rollback went on with instead; null while it is not abandoned. */
  readonly abandoned_by: number | null;
  readonly started_at: number;
  readonly updated_at: number;
  /** Its newest frame. */
  readonly seq: number;
  /** The newest cycle on its ancestor path; null before the first. */
  readonly cycle: number | null;
  readonly frames: number;
  /** What was said when it was started. */
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
  readonly position: { readonly branch: string; readonly seq: number };
  readonly times: number;
  /** Milliseconds since 1970. */
  readonly first_at: number;
  readonly last_at: number;
};

export type Branches = {
  /** The branches of a history in the order they began, each with where it left its parent. */
  tree(history: string): Promise<readonly BranchNode[]>;
  /** Those on the ancestor path of a position, from the root (`get_branch`). */
  ancestors(position: Position): Promise<readonly BranchNode[]>;
  /** The saved positions of a history in the order they were saved; of all histories where none is given. */
  saved(history?: string): Promise<readonly SavedPosition[]>;
  config(position: Position): Promise<Configuration>;
  /** How a branch goes on from a position: it stands there, it was there before (rollback), or it never was (fork). */
  howToContinue(branchRef: BranchRef, position: Position): Promise<'current' | 'rollback' | 'fork'>;
  /**
   * The branch that a command goes to whose answer asks nothing of the rows: named as `<id of a history>:<branch id>`, with no
   * reference in its steps. Whether it is there the writer will tell. Else undefined: see `place`.
   */
  findExact(name: string, steps: readonly UnresolvedStep[]): Promise<BranchRef | undefined>;
  /**
   * The branch and the positions that a command means: now, or what they were when it was accepted before under this id.
   *
   * @throws what a reference that names nothing throws; E_USAGE for a load of where the branch stands
   */
  resolveSteps(
    branchRef: BranchRef,
    command: string,
    steps: readonly UnresolvedStep[],
  ): Promise<{ readonly branchRef: BranchRef; readonly steps: readonly Step[] }>;
  /** The position of an intervention's frame, which notes about it are written to. @throws E_NOT_FOUND */
  interventionPosition(
    history: string,
    id: string,
  ): Promise<{ readonly branchId: number; readonly seq: number }>;
  /** True if looking at a branch is recorded there: `observe` is configured. */
  isObserved(branchRef: BranchRef): Promise<boolean>;
  /** Records what an actor looked at, where it is recorded; null where it is not. */
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
