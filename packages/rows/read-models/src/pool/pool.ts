import type { ReadModel } from '../read-model.ts';
import { foldPool } from './fold.ts';
import { POOL_TABLES } from './tables.ts';

/** Pools in figures, at every snapshot, and the vectors of their messages (pool §7). */
export const pool: ReadModel = {
  name: 'pool',
  version: 3,
  onDemand: true,
  tables: POOL_TABLES,
  fold: foldPool,
};
