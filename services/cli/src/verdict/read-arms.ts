import type { Arms } from '@stemma/experiments';
import type { BranchRef } from '@stemma/history-store';
import type { Context } from '../command.ts';
import { texts } from '../mind-options.ts';

/** The branches that --runs and --runs-b name beside a first one each. */
export const armNames = (
  a: string,
  b: string,
  options: Readonly<Record<string, unknown>>,
): { readonly a: readonly string[]; readonly b: readonly string[] } => ({
  a: [a, ...texts(options, 'runs')],
  b: [b, ...texts(options, 'runsB')],
});

/** The branches of a history by their names. @throws E_HISTORY_NOT_FOUND, E_BRANCH_NOT_FOUND */
export const readArms = async (
  { findBranch }: Context,
  history: string,
  { a, b }: ReturnType<typeof armNames>,
): Promise<Arms> => {
  const arm = async (names: readonly string[]): Promise<readonly BranchRef[]> => {
    const found: BranchRef[] = [];
    for (const branch of names) found.push((await findBranch(`${history}:${branch}`)).branchRef);
    return found;
  };
  return { a: await arm(a), b: await arm(b) };
};
