import { ALL_FOLDS, type ReadModel } from '@stemma/read-models';

/** The folds that need nothing but frames and payloads: that of sizes waits for the tables of a tokenizer. */
export const FOLDS_AT_ONCE: readonly ReadModel[] = ALL_FOLDS.filter(({ name }) => name !== 'sizes');
