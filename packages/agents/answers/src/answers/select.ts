import { positionAnswer } from '@stemma/api';
import { defined } from '@stemma/values';
import type { ContractAnswer } from '../answer.ts';

export const select: ContractAnswer<'select'> = async ({ home }, { history, selector, limit, skip }) => {
  const window = defined({ limit, skip });
  const { position, ids } = await home.read.select(await home.find(history), selector, window);
  return { position: positionAnswer(position), ids: [...ids] };
};
