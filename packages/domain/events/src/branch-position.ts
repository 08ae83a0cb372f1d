/** A position within its history: the state of a branch after its frame `seq`. */
export type BranchPosition = { readonly branchId: number; readonly seq: number };
