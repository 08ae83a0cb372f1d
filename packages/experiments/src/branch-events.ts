import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { LoggedEvent } from '@stemma/queries';

/** A branch that is compared, and up to which frame each branch of its ancestor path counts. */
export type ComparedBranch = {
  readonly branchRef: BranchRef;
  readonly name: string;
  readonly limits: ReadonlyMap<number, number>;
};

/** An event on the way to the tip of a branch. */
export type OwnEvent = LoggedEvent & {
  /** True: all branches that are compared have it. */
  readonly isShared: boolean;
};

/** Events that are read at a time. */
const PAGE = 1_000;

/** @throws E_BRANCH_NOT_FOUND */
export const comparedBranch = async (
  home: Pick<Home, 'position' | 'branches'>,
  branchRef: BranchRef,
  name: string,
): Promise<ComparedBranch> => {
  const tip = await home.position(branchRef);
  const path = await home.branches.ancestors(branchRef, tip.label);
  return {
    branchRef,
    name,
    limits: new Map(path.map((node, i) => [node.branchId, path[i + 1]?.parent?.seq ?? tip.seq])),
  };
};

/** The events of each of the branches, oldest first; the history is read once. */
export const eventsOfBranches = async (
  home: Pick<Home, 'events'>,
  history: string,
  branches: readonly ComparedBranch[],
): Promise<readonly (readonly OwnEvent[])[]> => {
  const found = branches.map((): OwnEvent[] => []);
  for (let from = 0; ;) {
    const page = await home.events(history, { from, limit: PAGE });
    for (const logged of page) {
      const having = branches.map(({ limits }) => logged.seq <= (limits.get(logged.branchId) ?? -1));
      const isShared = having.every((has) => has);
      for (const [i, has] of having.entries()) if (has) found[i]?.push({ ...logged, isShared });
    }
    const last = page.at(-1);
    if (last === undefined) return found;
    from = last.seq + 1;
  }
};
