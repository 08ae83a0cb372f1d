import type { ReadModel } from '../read-model.ts';
import { foldAudit, observeAudit } from './fold.ts';
import { AUDIT_TABLES } from './tables.ts';

/** Histories, their branches and snapshots: who, when, by which command, under which names; interventions, observations, calls. */
export const audit: ReadModel = {
  name: 'audit',
  version: 10,
  tables: AUDIT_TABLES,
  fold: foldAudit,
  observe: observeAudit,
};
