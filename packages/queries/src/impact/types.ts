/** A block that the act brought in, or that was made from it. */
export type TaintedBlock = {
  readonly id: string;
  /** The frame that brought it (this content of it). */
  readonly seq: number;
  readonly strand: number;
  /** Steps from the act: 0 for what it brought in itself. */
  readonly depth: number;
  /** Brought by the act; an answer to a call that was shown such a block; or it names one in its `refs`. */
  readonly reason:
    | { readonly kind: 'brought' }
    | { readonly kind: 'answer'; readonly call: CallPlace; readonly through: string }
    | { readonly kind: 'refs'; readonly to: string };
};

export type CallPlace = { readonly strand: number; readonly cycle: number };

/** A model call whose prompt held such blocks. */
export type TaintedCall = CallPlace & {
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
  /** The calls that would have been shown it as long as its own `ttl` says, by lineage. */
  readonly calls: readonly Stretch[];
};

/** Cycles of one lineage, both ends inclusive; all calls between are meant that the rest says. */
export type Stretch = {
  readonly strand: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
};

/** Where what the act brought in was shown, by lineage. */
export type ShownBlock = {
  readonly id: string;
  readonly calls: readonly Stretch[];
  /** True if a lineage shows it still at its newest call. */
  readonly still: boolean;
};

export type LineageImpact = {
  readonly strand: number;
  /** Calls of the lineage behind the act, or behind where it left its parent. */
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
  /** All blocks that the act brought in or that were made from it, by lineage and frame. */
  readonly blocks: readonly TaintedBlock[];
  readonly lost: readonly LostBlock[];
  /** The act's own lineage, and those that left it, or a lineage that did, behind the act. */
  readonly lineages: readonly LineageImpact[];
};
