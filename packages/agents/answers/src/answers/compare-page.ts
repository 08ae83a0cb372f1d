import { comparisonPage } from '@stemma/reports';
import type { ContractAnswer } from '../answer.ts';

export const comparePage: ContractAnswer<'comparePage'> = async ({ home }, { history, a, b }) =>
  comparisonPage(
    await home.queries.audit.compare(await home.find(history), a, b),
    `${history}: ${a} and ${b}`,
  );
