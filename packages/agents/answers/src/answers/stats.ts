import type { ContractAnswer } from '../answer.ts';

export const stats: ContractAnswer<'stats'> = async ({ home }) => ({ ...(await home.operations.stats()) });
