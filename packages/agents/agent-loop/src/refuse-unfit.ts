import type { Author } from '@stemma/events';
import { parseCommand } from '@stemma/history';
import { branchRefOf, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { UnresolvedStep } from '@stemma/queries';

/**
 * Refuses steps that forks at a position could not take, before there is one.
 *
 * @throws as `submit`, what resolving a reference throws
 */
export const refuseUnfit = async (
  home: Pick<Home, 'branches' | 'tryInFork'>,
  position: Position,
  given: readonly UnresolvedStep[],
  { by, notes, forks }: { readonly by: Author; readonly notes?: string | undefined; readonly forks: number },
): Promise<void> => {
  const { history, branchId } = position;
  const resolved = await home.branches.resolveSteps(branchRefOf(history, branchId), 'none', given);
  const because = notes === undefined ? {} : { notes };
  const { steps } = parseCommand({
    ...{ id: 'none', history, branchId, by },
    ...because,
    steps: [...resolved.steps],
  });
  await home.tryInFork(position, { by, ...because, steps, forks });
};
