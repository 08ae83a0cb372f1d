import type { BranchState } from './state.ts';

/** The bytes of a node with its records and indexes, but without a text; and of a branch without nodes, measured roughly. */
const BYTES_PER_NODE = 500;
const BYTES_PER_BRANCH = 10_000;

/** About how many bytes of memory a loaded branch takes; what one that is not loaded would take without nodes. */
export const bytesOfBranch = (branch: BranchState | undefined): number =>
  branch === undefined
    ? BYTES_PER_BRANCH
    : branch.tree.loadedNodes * BYTES_PER_NODE + branch.tree.loadedText + BYTES_PER_BRANCH;
