import { defined } from '@stemma/values';
import type { ContractAnswer } from '../answer.ts';

export const observations: ContractAnswer<'observations'> = async (
  { home },
  { history, from = 0, limit = 100, actor },
) => {
  const branchRef = await home.find(history);
  const page = {
    from,
    limit: Math.max(1, Math.min(limit, 1_000)),
    ...defined({ actor }),
  };
  return { observations: [...(await home.branches.observations(branchRef.history, page))] };
};
