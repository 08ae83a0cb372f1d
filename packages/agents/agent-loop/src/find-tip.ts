import { branchRefOf, type BranchRef, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';

/** True if the tip of a branch shows nothing that its newest snapshot does not: then a call needs no commit. */
export const isCommitted = async (home: Pick<Home, 'read'>, branchRef: BranchRef): Promise<boolean> => {
  const [newest] = await home.read.snapshots(branchRef, { limit: 1 });
  if (newest === undefined) return false;
  const { added, removed, changed } = await home.read.diff(branchRef, newest.label, '');
  return added.length + removed.length + changed.length === 0;
};

/** The tip of a branch as it is now. */
export const tipOf = (home: Pick<Home, 'position'>, { history, branchId }: BranchRef): Promise<Position> =>
  home.position(branchRefOf(history, branchId));
