import { HISTORY_STORE } from '@stemma/history-store';
import { audit } from './audit/audit.ts';
import { diffs } from './diffs/diffs.ts';
import { pool } from './pool/pool.ts';
import type { ReadModel } from './read-model.ts';
import { sizes } from './sizes/sizes.ts';
import { stages } from './stages/stages.ts';

/** Every read model: a folder beside this file, and a line here (CONTRIBUTING.md). */
export const READ_MODELS: readonly ReadModel[] = [audit, diffs, pool, sizes, stages];

/** The read models that a home folds, in this order. */
export const ALL_FOLDS: readonly ReadModel[] = [HISTORY_STORE, ...READ_MODELS];
