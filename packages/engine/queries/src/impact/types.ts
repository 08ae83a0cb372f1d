/** A block that the intervention inserted, or that was made from one. */
export type TaintedBlock = {
  readonly id: string;
  /** The frame that inserted it (with this content). */
  readonly seq: number;
  readonly branchId: number;
  /** Steps from the intervention: 0 for blocks that it inserted itself. */
  readonly depth: number;
  /** Inserted by the intervention; an answer to a call that was shown such a block; or it names one in its `refs`. */
  readonly reason:
    | { readonly kind: 'brought' }
    | { readonly kind: 'answer'; readonly call: CallRef; readonly through: string }
    | { readonly kind: 'refs'; readonly to: string };
};

export type CallRef = { readonly branchId: number; readonly cycle: number };

/** A model call whose prompt held such blocks. */
export type TaintedCall = CallRef & {
  readonly seq: number;
  /** The number of blocks in the prompt that the intervention inserted, and of those made from them. */
  readonly direct: number;
  readonly derived: number;
  /** Steps from the intervention to the nearest of them, and that block. */
  readonly depth: number;
  readonly through: string;
};

/** A block that the intervention removed, or whose content it replaced. */
export type LostBlock = {
  readonly id: string;
  readonly what: 'removed' | 'replaced';
  /** The calls that its own `ttl` would have shown it to, by branch. */
  readonly calls: readonly CycleSpan[];
};

/** Cycles of one branch, both ends inclusive: `calls` of the calls between count. */
export type CycleSpan = {
  readonly branchId: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
};

/** The calls that were shown what the intervention inserted, by branch. */
export type ShownBlock = {
  readonly id: string;
  readonly calls: readonly CycleSpan[];
  /** True if the newest call of a branch still shows it. */
  readonly still: boolean;
};

export type BranchImpact = {
  readonly branchId: number;
  /** Calls of the branch after the intervention, or after it left its parent. */
  readonly calls: number;
  readonly direct: number;
  readonly derived: number;
  /** The newest call that held such a block; null if none did. */
  readonly lastDirect: number | null;
  readonly lastDerived: number | null;
};

/** What an intervention led to, as far as the record shows it (docs/audit.md). */
export type Impact = {
  /**
   * What counts as a call: `made` (attempts that are recorded), or `commits`, if none is: each commit is taken for a call
   * of the imported record.
   */
  readonly basis: 'made' | 'commits';
  readonly brought: readonly ShownBlock[];
  /**
   * Calls in the order of the record: `direct` were shown what the intervention inserted, the others only what was
   * made from it.
   */
  readonly calls: readonly TaintedCall[];
  readonly counts: { readonly calls: number; readonly direct: number; readonly derived: number };
  /** All blocks that the intervention inserted or that were made from them, by branch and frame. */
  readonly blocks: readonly TaintedBlock[];
  readonly lost: readonly LostBlock[];
  /** The intervention's own branch, and its descendants that start after the intervention. */
  readonly branches: readonly BranchImpact[];
};
