/** What a commit does to single nodes, in the shapes of the recorded events. */
export type ExpiryFact = { readonly type: 'NodeExpired'; readonly id: string };
export type CascadeFact = {
  readonly type: 'NodeCascaded';
  readonly id: string;
  readonly why: 'contained' | 'emptied';
  readonly by: string;
};
export type HoldFact = { readonly type: 'NodeHeld'; readonly id: string; readonly by: string };
export type PruneFact = {
  readonly type: 'NodePruned';
  readonly id: string;
  readonly rank: number;
  readonly rule: 'max_blocks';
};
