import { poolMetricsDocument } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const poolMetrics: ContractAnswer<'poolMetrics'> = async ({ home }, { history, at, last }) =>
  poolMetricsDocument(await home.queries.pools.metrics(await positionAt(home, { history, at })), last);
