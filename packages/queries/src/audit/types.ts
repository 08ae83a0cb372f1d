import type { Author, InterventionType } from '@stemma/events';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Impact } from '../impact/types.ts';
import type {
  Intervention,
  InterventionFilter,
  Interventions,
  InterventionWindow,
} from './intervention-types.ts';

/** A frame and who wrote it. */
export type ComparedFrame = {
  readonly seq: number;
  readonly branchId: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly author: Author;
  readonly command: string;
  /** Its type and notes, if an actor wrote it; null for a recorder's own record. */
  readonly intervention: { readonly type: InterventionType; readonly notes: string } | null;
};

/** A position and its counts. */
export type CountedPosition = {
  readonly position: Position;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
  /** Blocks of the provider thread, and tokens of their contents (the vocabulary is `tokens` of the comparison). */
  readonly shown: number;
  readonly tokens: number;
};

/** A node as a comparison lists it. */
export type ComparedNode = {
  readonly id: string;
  readonly nodeType: string;
  readonly role: string | null;
  readonly kind: string | null;
  /** Null for nodes without content. */
  readonly tokens: number | null;
  /** The beginning of its content (text, or canonical JSON); null for nodes without content. */
  readonly excerpt: string | null;
  /** Characters of the whole content. */
  readonly characters: number;
};

/** What one side has done since the merge base. */
export type ComparedSide = {
  /** The first frame after the merge base; null: this side is the merge base. */
  readonly first: ComparedFrame | null;
  readonly frames: number;
  /** Frames of actors, oldest first, at most 200; `interventions` counts all. */
  readonly interventionFrames: readonly ComparedFrame[];
  readonly interventions: number;
  readonly added: readonly ComparedNode[];
  readonly removed: readonly ComparedNode[];
  readonly changed: readonly (ComparedNode & { readonly fields: readonly string[] })[];
};

/** One cycle on both sides: the snapshot's numbers, or null on a side that does not have the cycle. */
export type ComparedCycle = {
  readonly cycle: number;
  readonly a: CycleCounts | null;
  readonly b: CycleCounts | null;
  /** True if both sent the provider the same thread. */
  readonly same: boolean;
};
export type CycleCounts = {
  readonly seq: number;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
};

/** Two positions of a history side by side. */
export type Comparison = {
  readonly history: string;
  /** `diverged`: each has frames that the other lacks; else one is on the other's ancestor path, or they are the same. */
  readonly relation: 'same' | 'a-before-b' | 'b-before-a' | 'diverged';
  /** The newest position that lies on both ancestor paths. */
  readonly mergeBase: CountedPosition;
  readonly a: CountedPosition & ComparedSide;
  readonly b: CountedPosition & ComparedSide;
  /** The fork or rollback by which they diverged; null if none did. */
  readonly divergedBy:
    (ComparedFrame & { readonly how: 'fork' | 'rollback'; readonly side: 'a' | 'b' }) | null;
  /** Blocks inserted on both sides with the same content under different ids. */
  readonly alike: readonly { readonly a: string; readonly b: string }[];
  /** The cycles after the merge base, oldest first, at most 500; `moreCycles` counts the others. */
  readonly cycles: readonly ComparedCycle[];
  readonly moreCycles: number;
  /** The vocabulary that tokens are counted in. */
  readonly encoding: string;
};

/** The questions of an auditor: each reads rows and contents. */
export type Audit = {
  /**
   * Two positions of a history side by side. `a` and `b`: `@c3`, `BRANCH@c3`, or a branch by name or id, which means
   * its draft. `excerpt`: the number of characters to show of each content (2,000).
   */
  compare(
    branchRef: BranchRef,
    a: string,
    b: string,
    options?: { readonly excerpt?: number },
  ): Promise<Comparison>;
  /** A page of the interventions of a history. */
  interventions(
    branchRef: BranchRef,
    filter?: InterventionFilter,
    window?: InterventionWindow,
  ): Promise<Interventions>;
  /** Every intervention, oldest first, in memory that does not grow with their number. */
  eachIntervention(branchRef: BranchRef, filter?: InterventionFilter): AsyncIterable<Intervention>;
  /** The intervention with an id, or at a frame: `@s57`. @throws E_INTERVENTION_NOT_FOUND */
  intervention(history: string, id: string): Promise<Intervention>;
  /** What an intervention led to, as far as the record shows it. @throws E_INTERVENTION_NOT_FOUND */
  impact(history: string, id: string): Promise<Impact>;
};
