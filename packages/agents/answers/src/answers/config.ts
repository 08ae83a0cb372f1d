import { positionAnswer } from '@stemma/api';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const config: ContractAnswer<'config'> = async ({ home }, { history, at }) => {
  const { position, config } = await home.branches.config(await positionAt(home, { history, at }));
  return { position: positionAnswer(position), config };
};
