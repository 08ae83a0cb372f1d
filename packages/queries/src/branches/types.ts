import type { WideJson } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import type { ObservationKind } from '@stemma/events';
import type { Step } from '@stemma/history';
import type { Line, Position } from '@stemma/history-store';
import type { StepToPlace } from './place-steps.ts';

/** A position that somebody saved, as `list` gives it (pool: Lineages and snapshots). */
export type SavedPosition = {
  /** The name it was saved under. */
  readonly id: string;
  /** When it was saved; milliseconds since 1970. */
  readonly created_at: number;
  /** The saved position before it on its chain. */
  readonly parent_id: string | null;
  readonly description: string;
  /** The cycle of the newest snapshot at or before it; null before the first. */
  readonly round_number: number | null;
  /** The general configuration and the policy in force there. */
  readonly config: { readonly [key: string]: WideJson };
  /** Of that snapshot. */
  readonly metrics: { readonly nodes: number; readonly blocks: number; readonly turns: number } | null;
  readonly position: Position;
  readonly lineage: string;
  readonly actor: string | null;
};

/** A position on a lineage that is known: `cycle` is the newest at it, null before the first. */
type Place = { readonly seq: number; readonly cycle: number | null; readonly label: string };

/** A lineage in the tree of its history. */
export type LineageNode = {
  readonly lineage: string;
  readonly strand: number;
  readonly name: string | null;
  readonly how: 'start' | 'fork' | 'rollback';
  /** Where it left its parent. */
  readonly parent: (Place & { readonly strand: number }) | null;
  /** The lineage that a rollback went on with instead; null while it is not abandoned. */
  readonly left_by: number | null;
  readonly started_at: number;
  readonly updated_at: number;
  /** Its newest frame. */
  readonly seq: number;
  /** The newest cycle on its chain; null before the first. */
  readonly cycle: number | null;
  readonly frames: number;
  /** What was said when it was started. */
  readonly description: string;
  readonly saved: readonly (Place & { readonly name: string })[];
};

export type Configuration = {
  readonly position: Position;
  readonly config: { readonly [key: string]: WideJson };
};

/** What an actor looked at. */
export type Observed = {
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
  readonly position: { readonly lineage: string; readonly seq: number };
  readonly times: number;
  /** Milliseconds since 1970. */
  readonly first_at: number;
  readonly last_at: number;
};

export type Lineages = {
  /** The lineages of a history in the order they began, each with where it left its parent. */
  tree(history: string): Promise<readonly LineageNode[]>;
  /** Those on the chain of a position, from the root (`get_lineage`). */
  ancestors(position: Position): Promise<readonly LineageNode[]>;
  /** The saved positions of a history in the order they were saved; of all histories where none is given. */
  saved(history?: string): Promise<readonly SavedPosition[]>;
  config(position: Position): Promise<Configuration>;
  /** How a lineage goes on from a position: it stands there, it was there before (rollback), or it never was (fork). */
  way(line: Line, position: Position): Promise<'here' | 'rollback' | 'fork'>;
  /**
   * The lineage that a command goes to whose answer asks nothing of the rows: named as `<id of a history>:<strand>`, with no
   * reference in its steps. Whether it is there the writer will tell. Else undefined: see `place`.
   */
  exact(name: string, steps: readonly StepToPlace[]): Promise<Line | undefined>;
  /**
   * The lineage and the positions that a command means: now, or what they were when it was accepted before under this id.
   *
   * @throws what a reference that names nothing throws; E_USAGE for a load of where the lineage stands
   */
  place(
    line: Line,
    command: string,
    steps: readonly StepToPlace[],
  ): Promise<{ readonly line: Line; readonly steps: readonly Step[] }>;
  /** The position of an intervention's frame, which notes about it are written to. @throws E_NOT_FOUND */
  intervention(history: string, id: string): Promise<{ readonly strand: number; readonly seq: number }>;
  /** True if looking at a lineage is recorded there: `observe` is configured. */
  isObserved(line: Line): Promise<boolean>;
  /** Records what an actor looked at, where it is recorded; null where it is not. */
  observe(line: Line, actor: string, seen: readonly Observed[], command: string): Promise<Outcome | null>;
  observations(
    history: string,
    page?: { readonly from?: number; readonly limit?: number; readonly actor?: string },
  ): Promise<readonly Observation[]>;
};
