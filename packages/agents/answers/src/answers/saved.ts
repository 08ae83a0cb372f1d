import { positionAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const saved: ContractAnswer<'saved'> = async ({ home }, { history }) => {
  const of = history === undefined ? undefined : (await home.find(history)).history;
  const saved = await home.branches.saved(of);
  return { saved: saved.map((each) => ({ ...each, position: positionAnswer(each.position) })) };
};
