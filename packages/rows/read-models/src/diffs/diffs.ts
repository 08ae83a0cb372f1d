import type { ReadModel } from '../read-model.ts';
import { foldDiffs } from './fold.ts';
import { DIFFS_TABLES } from './tables.ts';

/** What happened to each node, and why: timelines, and the causes of every difference. */
export const diffs: ReadModel = {
  name: 'diffs',
  version: 4,
  onDemand: true,
  tables: DIFFS_TABLES,
  fold: foldDiffs,
};
