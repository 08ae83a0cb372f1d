import { poolDocument, viewPool } from '@stemma/pools';
import type { ContractAnswer } from '../answer.ts';

export const pool: ContractAnswer<'pool'> = async ({ home }, { history, at }) =>
  poolDocument(await viewPool(home, await home.find(history), at));
