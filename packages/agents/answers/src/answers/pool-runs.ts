import { viewRuns } from '@stemma/pools';
import type { ContractAnswer } from '../answer.ts';

export const poolRuns: ContractAnswer<'poolRuns'> = async ({ home }, { history, open }) => {
  const of = history === undefined ? {} : { history: (await home.find(history)).history };
  return { runs: [...(await viewRuns(home, { ...of, open: open === 'true' }))] };
};
