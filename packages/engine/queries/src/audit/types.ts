import type { ComparedDecisions } from './decision-types.ts';
import type { Author, InterventionType } from '@stemma/events';
import type { BranchRef, Position } from '@stemma/history-store';
import type { RequestChange } from '@stemma/model-apis';
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

/** What one side has done since the merge base; of two histories, since its beginning, and added is what only it has. */
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
  /** True if both sent the provider the same thread, whatever the ids of its nodes. */
  readonly same: boolean;
};
export type CycleCounts = {
  readonly seq: number;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
};

/** A message that the model is shown on one side only, or otherwise on the other. */
export type ComparedMessage = {
  readonly what: 'only-a' | 'only-b' | 'changed';
  /** The blocks of each side's thread that stand before it. */
  readonly at: { readonly a: number; readonly b: number };
  /** The blocks of the message on each side; empty where there is none. */
  readonly a: readonly ComparedNode[];
  readonly b: readonly ComparedNode[];
  /** What actors did to it, on either side; empty: recorders recorded both as they are. */
  readonly causes: readonly MessageCause[];
  /**
   * The cycle of the first call that was shown something else on the two sides, if the message was recorded after it: it may
   * follow from that. Null where an actor made the difference, or nothing had differed before.
   */
  readonly after: number | null;
};

/** An intervention that made a message differ. */
export type MessageCause = {
  readonly side: 'a' | 'b';
  readonly how: 'inserted' | 'replaced' | 'removed';
  /** Its `command` is the id of the intervention. */
  readonly frame: ComparedFrame;
};

/** The messages that the model is shown at two positions, aligned by what they say, whatever their ids. */
export type ComparedThreads = {
  /** Messages that are the same on both sides, at the same place. */
  readonly same: number;
  /** The others, in the order of the thread. */
  readonly differences: readonly ComparedMessage[];
  /** The cycle of the first call that was shown something else on the two sides; null: none of the calls compared. */
  readonly since: number | null;
};

/** Two positions side by side, of one history or of two. */
export type Comparison = {
  /** That of A. */
  readonly history: string;
  /**
   * `diverged`: each has frames that the other lacks; `apart`: they are of two histories; else one is on the other's ancestor
   * path, or they are the same.
   */
  readonly relation: 'same' | 'a-before-b' | 'b-before-a' | 'diverged' | 'apart';
  /** The newest position that lies on both ancestor paths; null: they are of two histories. */
  readonly mergeBase: CountedPosition | null;
  readonly a: CountedPosition & ComparedSide;
  readonly b: CountedPosition & ComparedSide;
  /** The fork or rollback by which they diverged; null if none did. */
  readonly divergedBy:
    (ComparedFrame & { readonly how: 'fork' | 'rollback'; readonly side: 'a' | 'b' }) | null;
  /** What differs in the threads. */
  readonly threads: ComparedThreads;
  /** Tools and parameters that differ between the newest calls on the ways to A and B; null: there is none on one of them. */
  readonly request: readonly RequestChange[] | null;
  /** Nodes added on both sides under different ids: blocks of the same content, and containers that hold such blocks. */
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
   * Two positions side by side. `a` and `b`: `@c3`, `BRANCH@c3`, or a branch by name or id, which means its draft; of another
   * history by its address: `OTHER@c3`, `OTHER:BRANCH`. `excerpt`: the number of characters to show of each content (2,000).
   */
  compare(
    branchRef: BranchRef,
    a: string,
    b: string,
    options?: { readonly excerpt?: number },
  ): Promise<Comparison>;
  /** What the models decided on the branches of two positions, aligned. @throws as `compare` */
  decisions(branchRef: BranchRef, a: string, b: string): Promise<ComparedDecisions>;
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
