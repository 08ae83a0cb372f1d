import type { Fold } from './fold-frame.ts';
import { foldSnapshots, observeSnapshots } from './fold-snapshots.ts';
import { SNAPSHOTS_TABLES } from './tables.ts';

/** The fold that every other reader relies on: every position of every branch, and what commands are decided on. */
export const HISTORY_STORE: Fold = {
  name: 'history-store',
  version: 11,
  tables: SNAPSHOTS_TABLES,
  fold: foldSnapshots,
  observe: observeSnapshots,
};
