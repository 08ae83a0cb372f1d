/** A block that the act brought in, or that was made from it. */
export type TaintedBlock = {
  readonly id: string;
  /** The frame that brought it (this content of it). */
  readonly seq: number;
  readonly branchId: number;
  /** Steps from the act: 0 for what it brought in itself. */
  readonly depth: number;
  /** Brought by the act; an answer to a call that was shown such a block; or it names one in its `refs`. */
  readonly reason:
    | { readonly kind: 'brought' }
    | { readonly kind: 'answer'; readonly call: CallRef; readonly through: string }
    | { readonly kind: 'refs'; readonly to: string };
};

export type CallRef = { readonly branchId: number; readonly cycle: number };

/** A model call whose prompt held such blocks. */
export type TaintedCall = CallRef & {
  readonly seq: number;
  /** So many blocks of the prompt that the act brought in, and so many that were made from them. */
  readonly direct: number;
  readonly derived: number;
  /** Steps from the act to the nearest of them, and that block. */
  readonly depth: number;
  readonly through: string;
};

/** A block that the act took out, or whose content it replaced. */
export type LostBlock = {
  readonly id: string;
  readonly what: 'removed' | 'replaced';
  /** The calls that would have been shown it as long as its own `ttl` says, by branch. */
  readonly calls: readonly CycleSpan[];
};

/** Cycles of one branch, both ends inclusive; all calls between are meant that the rest says. */
export type CycleSpan = {
  readonly branchId: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
};

/** Where what the act brought in was shown, by branch. */
export type ShownBlock = {
  readonly id: string;
  readonly calls: readonly CycleSpan[];
  /** True if a branch shows it still at its newest call. */
  readonly still: boolean;
};

export type BranchImpact = {
  readonly branchId: number;
  /** Calls of the branch behind the act, or behind where it left its parent. */
  readonly calls: number;
  readonly direct: number;
  readonly derived: number;
  /** The newest call that held something of the act or made from it; null: none did. */
  readonly lastDirect: number | null;
  readonly lastDerived: number | null;
};

/** What an act led to, as far as the record can tell (docs/audit.md). */
export type Impact = {
  readonly brought: readonly ShownBlock[];
  /** Calls in the order of the record: `direct` were shown what the act brought in, the others only what was made of it. */
  readonly calls: readonly TaintedCall[];
  readonly counts: { readonly calls: number; readonly direct: number; readonly derived: number };
  /** All blocks that the act brought in or that were made from it, by branch and frame. */
  readonly blocks: readonly TaintedBlock[];
  readonly lost: readonly LostBlock[];
  /** The act's own branch, and those that left it, or a branch that did, behind the act. */
  readonly branches: readonly BranchImpact[];
};
