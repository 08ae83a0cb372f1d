import { eventsFrom } from '@stemma/agent-loop';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { pathLimits } from '@stemma/pools';
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

/** @throws E_BRANCH_NOT_FOUND */
export const comparedBranch = async (
  home: Pick<Home, 'position' | 'branches'>,
  branchRef: BranchRef,
  name: string,
): Promise<ComparedBranch> => {
  return { branchRef, name, limits: await pathLimits(home, await home.position(branchRef)) };
};

/** The events of each of the branches, oldest first; the history is read once. */
export const eventsOfBranches = async (
  home: Pick<Home, 'read'>,
  history: string,
  branches: readonly ComparedBranch[],
): Promise<readonly (readonly OwnEvent[])[]> => {
  const found = branches.map((): OwnEvent[] => []);
  for await (const logged of eventsFrom(home, history)) {
    const having = branches.map(({ limits }) => logged.seq <= (limits.get(logged.branchId) ?? -1));
    const isShared = having.every((has) => has);
    for (const [i, has] of having.entries()) if (has) found[i]?.push({ ...logged, isShared });
  }
  return found;
};
