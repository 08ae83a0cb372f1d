import type { ReadModel } from '../read-model.ts';
import { foldSnapshots, observeSnapshots } from './fold.ts';
import { SNAPSHOTS_TABLES } from './tables.ts';

/** Every position of every lineage, and what commands are decided on. */
export const snapshots: ReadModel = {
  name: 'snapshots',
  version: 2,
  tables: SNAPSHOTS_TABLES,
  fold: foldSnapshots,
  observe: observeSnapshots,
};
