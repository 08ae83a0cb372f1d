import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const experiment: ContractAnswer<'experiment'> = async ({ home }, { history, at }) => {
  const position = await positionAt(home, { history, at });
  let text = '';
  for await (const piece of home.operations.experiments.export(position)) text += piece;
  return text;
};
