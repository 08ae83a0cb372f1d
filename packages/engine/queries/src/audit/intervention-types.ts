import type { WideJson } from '@stemma/canonical';
import type { InterventionType } from '@stemma/events';

/** A later note about an intervention: about the position after it, or about its own frame. */
export type Annotation = {
  readonly seq: number;
  /** Nanoseconds since 1970 as an ISO time, UTC, milliseconds. */
  readonly timestamp: string;
  readonly by: string;
  readonly note: string;
};

/** A recorded intervention, with the field names of the pool inspector (pool: Interventions). */
export type Intervention = {
  readonly id: string;
  readonly timestamp: string;
  readonly actor: string;
  readonly intervention_type: InterventionType;
  readonly content: { readonly [name: string]: WideJson };
  /** Positions, `@s57`; before is null where the history starts. */
  readonly snapshot_before: string | null;
  readonly snapshot_after: string;
  readonly notes: string;
  readonly history: string;
  /** The branch it changed; of a fork or rollback the one it started. */
  readonly branch: string;
  readonly branchId: number;
  /** Its frame. */
  readonly seq: number;
  readonly annotations: readonly Annotation[];
};

/** Conditions on interventions: all that are given must hold. Times are nanoseconds since 1970. */
export type InterventionFilter = {
  readonly type?: InterventionType;
  readonly actor?: string;
  readonly after?: bigint;
  readonly before?: bigint;
  /** The position before or after it: `@c3`, `BRANCH@c3`. */
  readonly snapshot?: string;
  /** A branch by name or id. */
  readonly branch?: string;
};

export type InterventionWindow = {
  /** From this frame on; with `newest`, from this frame back. */
  readonly from?: number;
  readonly newest?: boolean;
  readonly limit?: number;
};

/** A page, and the `from` of the next one; null after the last. */
export type Interventions = {
  readonly interventions: readonly Intervention[];
  readonly next: number | null;
};
