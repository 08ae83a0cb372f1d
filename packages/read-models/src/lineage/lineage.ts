import type { ReadModel } from '../read-model.ts';
import { foldLineage } from './fold.ts';
import { LINEAGE_TABLES } from './tables.ts';

/** Histories, their lineages and snapshots: who, when, by which command, under which names. */
export const lineage: ReadModel = { name: 'lineage', version: 1, tables: LINEAGE_TABLES, fold: foldLineage };
