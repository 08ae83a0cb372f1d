import type { ReadModel } from '../read-model.ts';
import { foldLineage, observeLineage } from './fold.ts';
import { LINEAGE_TABLES } from './tables.ts';

/** Histories, their lineages and snapshots: who, when, by which command, under which names; interventions, observations. */
export const lineage: ReadModel = {
  name: 'lineage',
  version: 3,
  tables: LINEAGE_TABLES,
  fold: foldLineage,
  observe: observeLineage,
};
