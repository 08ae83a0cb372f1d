import type { ContractAnswer } from '../answer.ts';
import { historyPage } from '../histories.ts';

export const histories: ContractAnswer<'histories'> = ({ home, previews }, page) =>
  historyPage(home, previews, page);
