import type { BranchState } from './state.ts';

/** The bytes of a node with its records and indexes, and of a branch without nodes, measured roughly. */
const BYTES_PER_NODE = 900;
const BYTES_PER_BRANCH = 4_000;

/** About how many bytes of memory a loaded branch takes; what one that is not loaded would take without nodes. */
export const bytesOfBranch = (branch: BranchState | undefined): number =>
  (branch?.tree.loadedNodes ?? 0) * BYTES_PER_NODE + BYTES_PER_BRANCH;
