import { heldCallAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const held: ContractAnswer<'held'> = async ({ home }, { history }) => {
  const of = history === undefined ? undefined : (await home.find(history)).history;
  return { calls: (await home.steering.held(of)).map(heldCallAnswer) };
};
