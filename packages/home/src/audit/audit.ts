import type { ServedRows } from '@stemma/projector';
import { exportExperiment } from '../experiment/export.ts';
import { runExperiment } from '../experiment/run.ts';
import type { Home } from '../home.ts';
import { impactOf } from '../impact/impact.ts';
import { compareLines } from './compare.ts';
import { eachIntervention, oneIntervention, pageOfInterventions } from './interventions.ts';
import type { Audit } from './types.ts';

export const auditOf = (projector: ServedRows, home: () => Home): Audit => ({
  compare: (line, a, b, options) => compareLines(projector, line, a, b, options),
  interventions: (line, filter = {}, window = {}) => pageOfInterventions(projector, line, filter, window),
  eachIntervention: (line, filter = {}) => eachIntervention(projector, line, filter),
  intervention: (history, id) => oneIntervention(projector, history, id),
  impact: (history, id) => impactOf(projector, history, id),
  exportExperiment: (position) => exportExperiment(projector, position),
  runExperiment: (text, options) => runExperiment(home(), text, options),
});
