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
  /** What it was and why, if an observer did it; null for an agent's own record. */
  readonly intervention: { readonly type: InterventionType; readonly notes: string } | null;
};

/** A position with what can be counted there. */
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
  /** The beginning of its content (as text, or canonical JSON); null for nodes without content. */
  readonly excerpt: string | null;
  /** Characters of the whole. */
  readonly characters: number;
};

/** What one side has done since the merge base. */
export type ComparedSide = {
  /** The first frame behind the merge base; null: this side is the merge base. */
  readonly first: ComparedFrame | null;
  readonly frames: number;
  /** Frames of actors, oldest first, at most 200; `interventions` counts all. */
  readonly interventionFrames: readonly ComparedFrame[];
  readonly interventions: number;
  readonly added: readonly ComparedNode[];
  readonly removed: readonly ComparedNode[];
  readonly changed: readonly (ComparedNode & { readonly fields: readonly string[] })[];
};

/** A cycle as each side has it: the snapshot's numbers, or null where a side does not reach so far. */
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
  /** `parted`: each has frames that the other has not; else one lies on the other's ancestor path, or they are the same. */
  readonly relation: 'same' | 'a-before-b' | 'b-before-a' | 'parted';
  /** The newest position that lies on both ancestor paths. */
  readonly mergeBase: CountedPosition;
  readonly a: CountedPosition & ComparedSide;
  readonly b: CountedPosition & ComparedSide;
  /** The fork or rollback by which they parted; null where they did not. */
  readonly partedBy: (ComparedFrame & { readonly how: 'fork' | 'rollback'; readonly side: 'a' | 'b' }) | null;
  /** Blocks that entered on both sides with the same content under different ids. */
  readonly alike: readonly { readonly a: string; readonly b: string }[];
  /** The cycles behind the merge base, oldest first, at most 500; `moreCycles` so many more. */
  readonly cycles: readonly ComparedCycle[];
  readonly moreCycles: number;
  /** The vocabulary that tokens are counted in. */
  readonly encoding: string;
};

/** What an auditor asks: all reads of rows and contents. */
export type Audit = {
  /**
   * Two positions of a history side by side. `a` and `b`: `@c3`, `BRANCH@c3`, or a branch by name or number, which
   * means its working state. `excerpt`: so many characters of each content (2,000).
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
  /** All of them, oldest first, in memory that does not grow with their number. */
  eachIntervention(branchRef: BranchRef, filter?: InterventionFilter): AsyncIterable<Intervention>;
  /** One by its id, or by its frame: `@s57`. @throws E_INTERVENTION_NOT_FOUND */
  intervention(history: string, id: string): Promise<Intervention>;
  /** What an intervention led to, as far as the record can tell. @throws E_INTERVENTION_NOT_FOUND */
  impact(history: string, id: string): Promise<Impact>;
};
