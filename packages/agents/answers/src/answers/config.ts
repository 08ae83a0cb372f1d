import { positionAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';

export const config: ContractAnswer<'config'> = async ({ home }, { history, at }) => {
  const { position, config } = await home.branches.config(await home.position(await home.find(history), at));
  return { position: positionAnswer(position), config };
};
