import type { ServedRows } from '@stemma/projector';
import { impactOf } from '../impact/impact.ts';
import { compareLines } from './compare.ts';
import { eachIntervention, oneIntervention, pageOfInterventions } from './interventions.ts';
import type { Audit } from './types.ts';

export const auditOf = (projector: ServedRows): Audit => ({
  compare: (line, a, b, options) => compareLines(projector, line, a, b, options),
  interventions: (line, filter = {}, window = {}) => pageOfInterventions(projector, line, filter, window),
  eachIntervention: (line, filter = {}) => eachIntervention(projector, line, filter),
  intervention: (history, id) => oneIntervention(projector, history, id),
  impact: (history, id) => impactOf(projector, history, id),
});
