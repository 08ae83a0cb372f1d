import { poolMetricsDocument } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';

export const poolMetrics: ContractAnswer<'poolMetrics'> = async ({ home }, { history, at, last }) =>
  poolMetricsDocument(await home.pools.metrics(await home.position(await home.find(history), at)), last);
