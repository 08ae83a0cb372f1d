import { fail, type StemmaError } from '@stemma/errors';
import { freshFixed, recordsOf, Tree, type FixedIds, type ThreadMode } from '@stemma/context-tree';
import { NO_CONFIG } from './config.ts';
import type { BranchParts, LoadBranch } from './branch-parts.ts';
import type { BranchState, BranchTip, HistoryState, Sources } from './state.ts';

/** A history without loaded branches; `next` is the `seq` of its next frame. */
export const openHistory = (history: string, next: number): HistoryState => ({
  history,
  next,
  loadedBranches: new Map(),
  startedBranches: new Map(),
  abandonedNames: new Map(),
  erased: false,
});

/** The root branch of a new history: empty, after cycle `cycle`. */
export const newRootBranch = (ids: FixedIds, thread: ThreadMode, cycle: number): BranchState => ({
  branchId: 0,
  parent: null,
  name: 'main',
  seq: 0,
  tree: new Tree({ cycle, fixed: freshFixed(ids), turns: [], nodes: [] }, thread, true),
  newest: 0n,
  nextIndex: 0,
  policy: null,
  config: NO_CONFIG,
  thread,
});

export const loadBranch: LoadBranch = (parts, kept) => ({
  branchId: parts.branchId,
  parent: parts.parent,
  name: parts.name,
  seq: parts.seq,
  tree: new Tree(parts, parts.thread, false, kept),
  newest: parts.newest,
  nextIndex: parts.nextIndex,
  policy: parts.policy,
  config: parts.config,
  thread: parts.thread,
});

/** The parts of a branch as it is now; later frames do not change them. */
export const branchParts = (branch: BranchState): BranchParts => ({
  ...recordsOf(branch.tree),
  branchId: branch.branchId,
  parent: branch.parent,
  name: branch.name,
  seq: branch.seq,
  newest: branch.newest,
  nextIndex: branch.nextIndex,
  policy: branch.policy,
  config: branch.config,
  thread: branch.thread,
});

/**
 * A branch at its newest frame, loaded from the sources if it is not in memory. One that was only started has the tree
 * and configuration of its parent's position (context-tree §10.21).
 *
 * @throws Missing
 */
export const requireBranch = (state: HistoryState, branchId: number, sources: Sources): BranchState => {
  const known = state.loadedBranches.get(branchId);
  if (known !== undefined) return known;
  const started = state.startedBranches.get(branchId);
  if (started === undefined) refuseUnbegun(state, branchId);
  const loaded =
    started === undefined
      ? sources.position(branchId, null)
      : { ...sources.position(started.parent.branchId, started.parent.at), ...started };
  const name = state.abandonedNames.get(branchId);
  if (name !== undefined) loaded.name = name;
  state.startedBranches.delete(branchId);
  state.loadedBranches.set(branchId, loaded);
  return loaded;
};

/**
 * A branch begins with the frame of its number. The rows may have frames of others that this state has not: what they say of such
 * a branch is not taken in, or it would stand here as it was before it began.
 *
 * @throws E_BRANCH_NOT_FOUND
 */
const refuseUnbegun = ({ history, next }: HistoryState, branchId: number): void => {
  if (branchId >= next) throw branchNotFound(history, branchId);
};

/** An error to throw: E_BRANCH_NOT_FOUND. */
export const branchNotFound = (history: string, branchId: number): StemmaError =>
  fail('E_BRANCH_NOT_FOUND', `the history ${history} has no branch ${branchId}`, { history, branchId });

/** The tip of a branch, without loading a tree; undefined if there is no such branch. */
export const branchTip = (state: HistoryState, branchId: number, sources: Sources): BranchTip | undefined => {
  const known = state.loadedBranches.get(branchId) ?? state.startedBranches.get(branchId);
  if (known !== undefined) return { branchId, parent: known.parent, name: known.name, seq: known.seq };
  const found = branchId < state.next ? sources.branchTip(branchId) : undefined;
  const name = state.abandonedNames.get(branchId);
  return found === undefined || name === undefined ? found : { ...found, name };
};

/** The fields of a branch besides its tree that frames change; kept to undo a frame. */
export type BranchScalars = Pick<BranchState, 'name' | 'seq' | 'newest' | 'nextIndex' | 'policy' | 'config'>;

export const branchScalars = ({
  name,
  seq,
  newest,
  nextIndex,
  policy,
  config,
}: BranchState): BranchScalars => ({
  name,
  seq,
  newest,
  nextIndex,
  policy,
  config,
});
