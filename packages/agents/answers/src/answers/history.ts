import type { ContractAnswer } from '../answer.ts';
import { historyAnswer } from '../histories.ts';

export const history: ContractAnswer<'history'> = async ({ home, previews }, { history }) =>
  historyAnswer(await home.read.history((await home.find(history)).history), previews);
