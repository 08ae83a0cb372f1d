import { defined } from '@stemma/values';
import type { ContractAnswer } from '../answer.ts';
import { interventionAnswer } from '../intervention-answer.ts';
import { filterOf } from '../intervention-filter.ts';

export const interventions: ContractAnswer<'interventions'> = async (
  { home },
  { history, from, limit = 100, order, ...query },
) => {
  const window = {
    limit: Math.max(1, limit),
    newest: order === 'newest',
    ...defined({ from }),
  };
  const branchRef = await home.find(history);
  const { interventions, next } = await home.queries.audit.interventions(branchRef, filterOf(query), window);
  return { interventions: interventions.map(interventionAnswer), next };
};
