import type { ReadModel } from '../read-model.ts';
import { foldStages } from './fold.ts';
import { STAGES_TABLES } from './tables.ts';

/** Our own histories as node streams, and the hashes of their stages at every snapshot (compiler-stages). */
export const stages: ReadModel = { name: 'stages', version: 4, tables: STAGES_TABLES, fold: foldStages };
