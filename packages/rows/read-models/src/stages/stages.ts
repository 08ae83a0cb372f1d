import type { ReadModel } from '../read-model.ts';
import { openStagesFold } from './fold.ts';
import { openRunningHashesCache } from './running-hashes-cache.ts';
import { STAGES_TABLES } from './tables.ts';

const KEPT_BYTES = 64 * 1024 * 1024;

/** Our own histories as node streams, and the hashes of their stages at every snapshot (compiler-stages). */
export const stages: ReadModel = {
  name: 'stages',
  version: 7,
  onDemand: true,
  tables: STAGES_TABLES,
  fold: openStagesFold(openRunningHashesCache(KEPT_BYTES)),
};
