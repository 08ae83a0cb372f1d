import type { WideJson } from '@stemma/canonical';

/** A call of a tool in a decision, and what came back. */
export type DecidedCall = {
  readonly name: string;
  readonly input: WideJson;
  /** Null: no result is recorded. */
  readonly result: string | null;
  readonly failed: boolean;
};

/** What a model decided at a call. */
export type ShownDecision = {
  readonly branchId: number;
  readonly seq: number;
  readonly cycle: number;
  /** `answer`, the names of the tools with commas between, or nothing: what it decided is not recorded. */
  readonly what: string;
  readonly text: string;
  readonly calls: readonly DecidedCall[];
};

/** How the decisions of two calls are alike. `words`: both answer, in other words. */
export type DecisionPairing = 'same' | 'words' | 'arguments' | 'tool' | 'only-a' | 'only-b';

export type DecisionPair = {
  readonly how: DecisionPairing;
  readonly a: ShownDecision | null;
  readonly b: ShownDecision | null;
};

/** The decisions of two branches, aligned. */
export type ComparedDecisions = {
  readonly a: { readonly history: string; readonly branch: string; readonly calls: number };
  readonly b: { readonly history: string; readonly branch: string; readonly calls: number };
  readonly pairs: readonly DecisionPair[];
  /** The first pair that decides otherwise, not only in other words; null: none does. */
  readonly first: number | null;
};
