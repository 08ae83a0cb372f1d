import type { ContractAnswer } from '../answer.ts';

export const branches: ContractAnswer<'branches'> = async ({ home }, { history, of }) => {
  const branchRef = await home.find(history);
  const branches =
    of === undefined
      ? await home.branches.tree(branchRef.history)
      : await home.branches.ancestors(branchRef, of);
  return {
    history: branchRef.history,
    branches: branches.map((each) => ({ ...each, saved: [...each.saved] })),
  };
};
