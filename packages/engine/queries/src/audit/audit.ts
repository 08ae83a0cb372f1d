import type { Projection } from '@stemma/projector';
import { impactOf } from '../impact/impact.ts';
import { compareBranches } from './compare.ts';
import { compareDecisions } from './decisions.ts';
import { eachIntervention, findInterventionById, listInterventionPage } from './interventions.ts';
import type { Audit } from './types.ts';

export const openAudit = (projection: Projection): Audit => ({
  compare: (branchRef, a, b, options) => compareBranches(projection, branchRef, a, b, options),
  decisions: (branchRef, a, b) => compareDecisions(projection, branchRef, a, b),
  interventions: (branchRef, filter = {}, window = {}) =>
    listInterventionPage(projection, branchRef, filter, window),
  eachIntervention: (branchRef, filter = {}) => eachIntervention(projection, branchRef, filter),
  intervention: (history, id) => findInterventionById(projection, history, id),
  impact: (history, id) => impactOf(projection, history, id),
});
