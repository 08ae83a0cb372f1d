import type { ServedRows } from '@stemma/projector';
import { findRow } from '../audit/interventions.ts';
import { readImpactFacts } from './impact-facts.ts';
import { traceImpact } from './trace.ts';
import type { Impact } from './types.ts';

/** What an intervention led to, read from rows alone. @throws E_INTERVENTION_NOT_FOUND */
export const impactOf = async (projector: ServedRows, history: string, id: string): Promise<Impact> => {
  await projector.catchUp();
  const { strand, seq } = await findRow(projector, history, id);
  return traceImpact(await projector.read((view) => readImpactFacts(view, history, { strand, seq })));
};
