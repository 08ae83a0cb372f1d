import type { Projection } from '@stemma/projector';
import { findInterventionRow } from '../audit/interventions.ts';
import { readImpactFacts } from './impact-facts.ts';
import { traceImpact } from './trace.ts';
import type { Impact } from './types.ts';
import { catchUpWith } from '../catch-up-with.ts';

/** What an intervention led to, read from rows alone. @throws E_INTERVENTION_NOT_FOUND */
export const impactOf = async (projection: Projection, history: string, id: string): Promise<Impact> => {
  await catchUpWith(projection, history);
  const { branchId, seq } = await findInterventionRow(projection, history, id);
  return traceImpact(await projection.read((view) => readImpactFacts(view, history, { branchId, seq })));
};
