import { heldCallAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const heldOf: ContractAnswer<'heldOf'> = async ({ home }, { history }) => {
  const calls = await home.steering.held((await home.find(history)).history, { all: true });
  return { calls: calls.map(heldCallAnswer) };
};
