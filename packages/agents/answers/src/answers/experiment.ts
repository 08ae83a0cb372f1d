import type { ContractAnswer } from '../answer.ts';

export const experiment: ContractAnswer<'experiment'> = async ({ home }, { history, at }) => {
  const position = await home.position(await home.find(history), at);
  let text = '';
  for await (const piece of home.experiments.export(position)) text += piece;
  return text;
};
