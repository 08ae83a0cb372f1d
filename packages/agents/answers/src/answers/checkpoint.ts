import type { ContractAnswer } from '../answer.ts';

export const checkpoint: ContractAnswer<'checkpoint'> = async ({ signed }) => {
  const { partitions, ...rest } = await signed();
  return { ...rest, partitions: [...partitions] };
};
